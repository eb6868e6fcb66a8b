import { createHash } from 'node:crypto'
import { strToU8, zipSync } from 'fflate'
import { type FileServer, fileServer } from './file-server.ts'
import { tarball } from './tarball.ts'

/** A project as its publisher wants it: nothing is checked, everything is served. */
export interface PypiProject {
  /** As in file names: letters, digits and `_`. */
  readonly name: string
  /** `1.0.0` unless told otherwise. */
  readonly version?: string
  /** `Requires-Dist` lines, direct references (`name @ https://…`) among them. */
  readonly requires?: readonly string[]
  /** Files by their path: in a wheel from site-packages (`x.pth`), in a source distribution from its root. */
  readonly files?: Readonly<Record<string, string>>
  /** `[console_scripts]` of a wheel, as they are: `name = module:function`. */
  readonly scripts?: readonly string[]
  /** What is served: a wheel, or a source distribution with the `setup.py` among `files`. */
  readonly kind?: 'wheel' | 'sdist'
}

export interface PypiIndex extends FileServer {
  /** What pip and uv call the index: `http://127.0.0.1:3141/simple/`. */
  readonly simple: string
  /** The address of a project's file, for direct references. */
  fileUrl(name: string): string
}

/** A simple index (PEP 503) with these projects and nothing else. */
export async function pypiIndex(projects: readonly PypiProject[], address?: string): Promise<PypiIndex> {
  const files = new Map(projects.map(project => [`/files/${fileName(project)}`, fileOf(project)]))
  const server = await fileServer(path => {
    const file = files.get(path)
    if (file) return { type: 'application/octet-stream', body: file }
    const [, wanted] = /^\/simple\/([^/]+)\/?$/.exec(path) ?? []
    const found = projects.filter(({ name }) => canonical(name) === wanted)
    if (found.length === 0) return undefined
    const links = found.map(project => {
      const hash = createHash('sha256').update(fileOf(project)).digest('hex')
      return `<a href="/files/${fileName(project)}#sha256=${hash}">${fileName(project)}</a>`
    })
    return { type: 'text/html', body: `<!DOCTYPE html><html><body>${links.join('\n')}</body></html>` }
  }, address)
  return {
    ...server,
    simple: `${server.url}/simple/`,
    fileUrl(name) {
      const project = projects.find(each => each.name === name)
      if (!project) throw new Error(`the index has no ${name}`)
      return `${server.url}/files/${fileName(project)}`
    },
  }
}

const canonical = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-') // PEP 503

const fileName = ({ name, version = '1.0.0', kind = 'wheel' }: PypiProject): string =>
  kind === 'wheel' ? `${name}-${version}-py3-none-any.whl` : `${name}-${version}.tar.gz`

const fileOf = (project: PypiProject): Buffer => (project.kind === 'sdist' ? sdist(project) : wheel(project))

const metadata = ({ name, version = '1.0.0', requires = [] }: PypiProject): string =>
  [
    'Metadata-Version: 2.1',
    `Name: ${name}`,
    `Version: ${version}`,
    ...requires.map(line => `Requires-Dist: ${line}`),
    '',
  ].join('\n')

function sdist(project: PypiProject): Buffer {
  const root = fileName(project).replace(/\.tar\.gz$/, '')
  const files = { 'PKG-INFO': metadata(project), ...project.files }
  return tarball(Object.fromEntries(Object.entries(files).map(([path, text]) => [`${root}/${path}`, text])))
}

/** A wheel (PEP 427) for any Python 3. */
function wheel(project: PypiProject): Buffer {
  const { name, version = '1.0.0', scripts = [], files } = project
  const info = `${name}-${version}.dist-info`
  const content: Record<string, string> = {
    ...files,
    [`${info}/METADATA`]: metadata(project),
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    ...(scripts.length > 0
      ? { [`${info}/entry_points.txt`]: `[console_scripts]\n${scripts.join('\n')}\n` }
      : {}),
  }
  const record = Object.entries(content).map(([path, text]) => {
    const hash = createHash('sha256').update(text).digest('base64url')
    return `${path},sha256=${hash},${Buffer.byteLength(text)}`
  })
  content[`${info}/RECORD`] = [...record, `${info}/RECORD,,`, ''].join('\n')
  const entries = Object.entries(content).map(([path, text]) => [path, strToU8(text)] as const)
  return Buffer.from(zipSync(Object.fromEntries(entries), { mtime: new Date('2020-01-01') }))
}
