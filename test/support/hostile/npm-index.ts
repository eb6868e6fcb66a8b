import { createHash } from 'node:crypto'
import { type FileServer, fileServer } from './file-server.ts'
import { type Content, tarball } from './tarball.ts'

/** A package as its publisher wants it: nothing is checked, everything is served. */
export interface NpmPackage {
  readonly name: string
  /** `1.0.0` unless told otherwise. */
  readonly version?: string
  /** Further members of package.json: `scripts`, `bin`, `dependencies` of any form. */
  readonly manifest?: Readonly<Record<string, unknown>>
  /** Files and links beside package.json, by their path in the package. */
  readonly files?: Readonly<Record<string, Content>>
  /** Further entries of the archive, as they are: no `package/` is put in front. */
  readonly entries?: Readonly<Record<string, Content>>
  /** Where the index says that the archive lies, when not at the index. */
  readonly tarballUrl?: string
}

export interface NpmIndex extends FileServer {
  /** The address of a package's archive, for dependencies of the remote-file form. */
  tarballUrl(name: string, version?: string): string
}

/** A registry in npm's protocol with these packages and nothing else. */
export async function npmIndex(packages: readonly NpmPackage[], address?: string): Promise<NpmIndex> {
  const archives = new Map(packages.map(made => [archivePath(made.name, made.version), archiveOf(made)]))
  const server = await fileServer((path, host) => {
    const archive = archives.get(path)
    if (archive) return { type: 'application/octet-stream', body: archive }
    const versions = packages.filter(({ name }) => path === `/${name}`)
    if (versions.length === 0) return undefined
    return { type: 'application/json', body: JSON.stringify(packument(versions, archives, host)) }
  }, address)
  return { ...server, tarballUrl: (name, version) => server.url + archivePath(name, version) }
}

const archivePath = (name: string, version = '1.0.0'): string =>
  `/${name}/-/${name.replace(/^@.*\//, '')}-${version}.tgz`

const manifestOf = ({ name, version = '1.0.0', manifest }: NpmPackage) => ({ name, version, ...manifest })

function archiveOf(made: NpmPackage): Buffer {
  const files = Object.entries(made.files ?? {}).map(
    ([path, content]) => [`package/${path}`, content] as const,
  )
  return tarball({
    'package/package.json': JSON.stringify(manifestOf(made)),
    ...Object.fromEntries(files),
    ...made.entries,
  })
}

function packument(versions: readonly NpmPackage[], archives: ReadonlyMap<string, Buffer>, host: string) {
  const described = versions.map(made => {
    const path = archivePath(made.name, made.version)
    const archive = archives.get(path) ?? Buffer.alloc(0)
    const manifest = manifestOf(made)
    const dist = {
      tarball: made.tarballUrl ?? `http://${host}${path}`,
      integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}`,
      shasum: createHash('sha1').update(archive).digest('hex'),
    }
    const scripted = 'scripts' in manifest ? { hasInstallScript: true } : {}
    return [manifest.version, { ...manifest, ...scripted, dist }] as const
  })
  return {
    name: versions[0]?.name,
    'dist-tags': { latest: described.at(-1)?.[0] },
    versions: Object.fromEntries(described),
  }
}
