import { join } from 'node:path'
import type { PackageStore, WaitOptions } from '../../../src/contracts/runtime.ts'
import { failures } from '../failures.ts'
import { installLocal } from './install-local.ts'
import { type InstalledPackage, type PinnedPackage, parseImage, toImage } from './installed-package.ts'
import { alone, intoPlace, placeOf, readRecord } from './package-folder.ts'
import type { PackageTools } from './package-tools.ts'
import { pinPackage } from './pin-package.ts'
import { listPackages, removePackage } from './stored-packages.ts'

/** Packages installed on this host, and the way from an image reference back to them. */
export interface Packages extends PackageStore {
  /** What an instance of this image runs. Installs a pinned package again when the cache was emptied. */
  resolve(image: string, options?: WaitOptions): Promise<InstalledPackage>
}

/**
 * Keeps packages in `<folder>/<scheme>/<hash of the pinned reference>/`.
 *
 * A package is installed beside its folder and then moved there, so a folder that exists is complete.
 */
export function createPackageStore(folder: string, tools: PackageTools): Packages {
  async function ensure(pinned: PinnedPackage, image: string, options: WaitOptions): Promise<void> {
    const place = placeOf(folder, pinned, image)
    if (await readRecord(place)) return
    await alone(place, async () => {
      if (await readRecord(place)) return
      options.report?.(`Installing ${pinned.name} ${pinned.version}`)
      await intoPlace(place, pinned, image, temporary =>
        tools.installers[pinned.scheme](pinned, temporary, options),
      )
    })
  }

  return {
    async install(request, options = {}) {
      if (request.local) return installLocal(request, { folder, ...tools }, options)
      const pinned = await pinPackage(request, { folder, ...tools }, options)
      const image = toImage(pinned)
      await ensure(pinned, image, options)
      return { image, version: pinned.version }
    },

    installed: () => listPackages(folder),
    remove: image => removePackage(folder, image),

    async resolve(image, options = {}) {
      const pinned = parseImage(image)
      if (!pinned) throw failures.process_not_installed({ image })
      const place = placeOf(folder, pinned, image)
      const record = await readRecord(place)
      if (!record) {
        if (pinned.local) throw failures.process_not_installed({ image })
        await ensure(pinned, image, options)
        return this.resolve(image, options)
      }
      const command = record.command.map(part => join(place, part))
      return {
        folder: place,
        command: record.node ? [process.execPath, ...record.node, ...command] : command,
        needs: record.needs,
      }
    },
  }
}
