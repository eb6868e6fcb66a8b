import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { PackageRequest, PackageStore, Scheme, WaitOptions } from '../../../src/contracts/runtime.ts'
import { failures as core } from '../../../src/errors.ts'
import { readFileIfThere, writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import { newestVersion } from '../../../src/lib/newest-version.ts'
import { exactVersion, isRequirement, parsePackageReference } from '../../../src/lib/package-reference.ts'
import { parseDocument } from '../../../src/parse-document.ts'
import { withFileLock } from '../../../src/with-file-lock.ts'
import { failures } from '../failures.ts'
import { isExecutable } from '../find-on-path.ts'
import { buildLocalGo, installGo } from './golang.ts'
import type { WithInstallSandbox } from './install-sandbox.ts'
import {
  folderName,
  type InstalledPackage,
  type PackageRecord,
  type PinnedPackage,
  packageRecordSchema,
  parseImage,
  toImage,
} from './installed-package.ts'
import { type Installed, installNpm } from './npm.ts'
import { createNpmInstall } from './npm-install.ts'
import { installPython } from './python.ts'

/** Packages installed on this host, and the way from an image reference back to them. */
export interface Packages extends PackageStore {
  /** What an instance of this image runs. Installs a pinned package again when the cache was emptied. */
  resolve(image: string, options?: WaitOptions): Promise<InstalledPackage>
}

/** What asks registries and installs. */
export interface PackageTools {
  readonly newestVersion: typeof newestVersion
  readonly installers: Readonly<
    Record<Scheme, (pinned: PinnedPackage, folder: string, wait: WaitOptions) => Promise<Installed>>
  >
  /** Builds local Go code into a file of a folder. */
  readonly buildLocalGo: (
    path: string,
    output: { readonly folder: string; readonly file: string },
    wait: WaitOptions,
  ) => Promise<void>
}

/** The ecosystems' own tools, in a sandbox. */
export function packageTools(withSandbox: WithInstallSandbox): PackageTools {
  const npmInstall = createNpmInstall(withSandbox)
  return {
    newestVersion,
    installers: {
      npx: (...install) => installNpm(npmInstall, ...install),
      uvx: (...install) => installPython(withSandbox, ...install),
      go: (...install) => installGo(withSandbox, ...install),
    },
    buildLocalGo: (...build) => buildLocalGo(withSandbox, ...build),
  }
}

const RECORD = 'keelson.json'
const LOCK_SECONDS = 15 * 60

/**
 * Keeps packages in `<folder>/<scheme>/<hash of the pinned reference>/`.
 *
 * A package is installed beside its folder and then moved there, so a folder that exists is complete.
 */
export function createPackageStore(folder: string, tools: PackageTools): Packages {
  return {
    async install(request, options = {}) {
      if (request.local) return installLocal(request, options)
      const pinned = await pin(request, options)
      const image = toImage(pinned)
      await ensure(pinned, image, options)
      return { image, version: pinned.version }
    },

    async resolve(image, options = {}) {
      const pinned = parseImage(image)
      if (!pinned) throw failures.process_not_installed({ image })
      const place = placeOf(pinned, image)
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

  function placeOf({ scheme }: PinnedPackage, image: string): string {
    return join(folder, scheme, folderName(image))
  }

  async function pin(request: PackageRequest, options: WaitOptions): Promise<PinnedPackage> {
    const { scheme, buildWith } = request
    const reference = parsePackageReference(scheme, request.package)
    if (!reference) throw failures.process_package_invalid({ scheme, package: request.package })
    assertBuildWith(request)
    const { name, extras } = reference
    const whole = (version: string): PinnedPackage => ({
      scheme,
      name,
      extras,
      version,
      buildWith,
      local: false,
    })
    const exact = exactVersion(reference)
    if (exact) return whole(exact)
    options.report?.(`Asking for the newest version of ${name}`)
    const found = await tools.newestVersion(reference, { signal: options.signal })
    if (found.kind === 'found') return whole(found.version)
    const label = `${scheme}://${request.package}`
    if (found.kind === 'absent')
      throw failures.process_package_absent({ package: label, problem: found.problem })
    const cached = reference.wanted === undefined ? await newestInstalled(whole('*')) : undefined
    if (!cached) throw failures.process_package_unresolved({ package: label, problem: found.problem })
    options.report?.(
      `warning: no newer version could be asked for (${found.problem}); running ${name} ${cached}`,
    )
    return whole(cached)
  }

  /** The version of this package that was installed last. */
  async function newestInstalled(pinned: PinnedPackage): Promise<string | undefined> {
    const parent = join(folder, pinned.scheme)
    const names = (await readdir(parent).catch(() => [])).filter(name => /^[0-9a-f]+$/.test(name))
    const records = await Promise.all(names.map(name => readRecord(join(parent, name))))
    return records
      .filter(record => record && record.image === toImage({ ...pinned, version: record.version }))
      .sort((a, b) => (a && b ? b.installed_at.localeCompare(a.installed_at) : 0))[0]?.version
  }

  async function ensure(pinned: PinnedPackage, image: string, options: WaitOptions): Promise<void> {
    const place = placeOf(pinned, image)
    if (await readRecord(place)) return
    await alone(place, async () => {
      if (await readRecord(place)) return
      options.report?.(`Installing ${pinned.name} ${pinned.version}`)
      await intoPlace(place, pinned, image, temporary =>
        tools.installers[pinned.scheme](pinned, temporary, options),
      )
    })
  }

  /** Always builds local code (Go's own cache makes that quick) and names the package after the hash of the program. */
  async function installLocal(
    request: PackageRequest,
    options: WaitOptions,
  ): Promise<{ image: string; version: string }> {
    const path = request.package
    assertBuildWith(request)
    if (!(await isFolder(path))) throw core.file_missing({ path, what: 'The Go folder' })
    // One at a time for each folder of code, so that the next one clears what a killed one left.
    const output = join(folder, 'go', `build-${folderName(path)}`)
    return alone(output, async () => {
      const temporary = `${output}.${randomBytes(4).toString('hex')}.tmp`
      await mkdir(temporary, { mode: 0o700 })
      try {
        options.report?.(`Building ${path}`)
        await tools.buildLocalGo(path, { folder: temporary, file: 'program' }, options)
        return await keepLocal(path, join(temporary, 'program'))
      } finally {
        await rm(temporary, { recursive: true, force: true })
      }
    })
  }

  /** Moves a program that was built of local code to its place. */
  async function keepLocal(path: string, built: string): Promise<{ image: string; version: string }> {
    // `go build` of a library package makes no file that can be run
    if (!(await isExecutable(built))) throw failures.process_no_entry({ package: path, names: [] })
    const version = await hashOf(built)
    const pinned: PinnedPackage = {
      scheme: 'go',
      name: path,
      extras: [],
      version,
      buildWith: [],
      local: true,
    }
    const image = toImage(pinned)
    const place = placeOf(pinned, image)
    await alone(place, async () => {
      if (await readRecord(place)) return
      await intoPlace(place, pinned, image, async temporary => {
        const program = basename(path) || 'program'
        await mkdir(join(temporary, 'bin'))
        await rename(built, join(temporary, 'bin', program))
        return { command: [`bin/${program}`], needs: [] }
      })
    })
    return { image, version }
  }
}

function assertBuildWith({ scheme, buildWith }: PackageRequest): void {
  if (buildWith.length > 0 && scheme !== 'uvx') {
    throw core.usage({ text: `--build-with is for uvx:// packages, not for ${scheme}://.` })
  }
  const wrong = buildWith.find(text => !isRequirement(text))
  if (wrong !== undefined) {
    throw core.usage({ text: `--build-with takes a requirement such as "mcp<2", not "${wrong}".` })
  }
}

async function readRecord(place: string): Promise<PackageRecord | undefined> {
  const path = join(place, RECORD)
  const text = await readFileIfThere(path)
  return text === undefined ? undefined : (parseDocument(text, path, packageRecordSchema) as PackageRecord)
}

/** One installer per package; what killed ones left is cleared. */
async function alone<T>(place: string, work: () => Promise<T>): Promise<T> {
  const lock = `${place}.lock`
  return withFileLock(
    lock,
    async () => {
      const parent = dirname(place)
      const dead = (await readdir(parent)).filter(
        name => name.startsWith(`${basename(place)}.`) && name.endsWith('.tmp'),
      )
      await Promise.all(dead.map(name => rm(join(parent, name), { recursive: true, force: true })))
      return work()
    },
    { seconds: LOCK_SECONDS },
  )
}

async function intoPlace(
  place: string,
  { name, version }: PinnedPackage,
  image: string,
  fill: (folder: string) => Promise<Installed>,
): Promise<void> {
  const temporary = `${place}.${randomBytes(4).toString('hex')}.tmp`
  try {
    await mkdir(temporary, { mode: 0o755 })
    const installed = await fill(temporary)
    const record: PackageRecord = {
      image,
      name,
      version,
      installed_at: new Date().toISOString(),
      ...installed,
    }
    await writeFileAtomic(join(temporary, RECORD), JSON.stringify(record, null, 2), { mode: 0o644 })
    await rename(temporary, place)
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path)
    .then(found => found.isDirectory())
    .catch(() => false)

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex').slice(0, 16)
}
