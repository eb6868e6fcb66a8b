import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { PackageRequest, WaitOptions } from '../../../src/contracts/runtime.ts'
import { failures as core } from '../../../src/errors.ts'
import { isExecutable } from '../../../src/lib/find-on-path.ts'
import { failures } from '../failures.ts'
import { folderName, type PinnedPackage, toImage } from './installed-package.ts'
import { alone, intoPlace, placeOf, readRecord } from './package-folder.ts'
import type { PackageTools } from './package-tools.ts'
import { assertBuildWith } from './pin-package.ts'

/** Always builds local code (Go's own cache makes that quick) and names the package after the hash of the program. */
export async function installLocal(
  request: PackageRequest,
  { folder, buildLocalGo }: { folder: string } & Pick<PackageTools, 'buildLocalGo'>,
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
      await buildLocalGo(path, { folder: temporary, file: 'program' }, options)
      return await keepLocal(folder, path, join(temporary, 'program'))
    } finally {
      await rm(temporary, { recursive: true, force: true })
    }
  })
}

/** Moves a program that was built of local code to its place. */
async function keepLocal(
  folder: string,
  path: string,
  built: string,
): Promise<{ image: string; version: string }> {
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
  const place = placeOf(folder, pinned, image)
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

const isFolder = (path: string): Promise<boolean> =>
  stat(path)
    .then(found => found.isDirectory())
    .catch(() => false)

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex').slice(0, 16)
}
