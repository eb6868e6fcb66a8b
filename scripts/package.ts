/**
 * `npm run package [FOLDER]`: writes the program, this Node and npm as one executable file, with its SHA-256 beside it.
 * docs/decisions/self-extracting-executable.md says why it is not one of Node's single executable applications.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const repository = resolve(import.meta.dirname, '..')
const folder = resolve(process.argv[2] ?? 'release')
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string }

const node = realpathSync(process.execPath)
// npm sets the variable for the scripts that it runs.
const npm = process.env.npm_execpath && dirname(dirname(realpathSync(process.env.npm_execpath)))
if (process.platform !== 'linux' || !npm) {
  process.stderr.write('Error: the executable is made on Linux, by `npm run package`.\n')
  process.exit(1)
}

const content = mkdtempSync(join(tmpdir(), 'keelson-package-'))
const archive = `${content}.tar.gz`
try {
  const copy = (from: string, to: string) =>
    cpSync(from, join(content, to), { recursive: true, dereference: true })
  copy(node, 'bin/node')
  copy(license(node), 'LICENSE.node')
  copy(npm, 'lib/node_modules/npm')
  for (const file of ['dist', 'package.json', 'LICENSE']) copy(join(repository, file), `keelson/${file}`)

  // The same content makes the same archive.
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=go-w']
  execFileSync('tar', ['-I', 'gzip -6n', '-cf', archive, ...same, '-C', content, '.'])
  const payload = readFileSync(archive)
  const stub = readFileSync(join(import.meta.dirname, 'executable/self-extract.sh'), 'utf8')
  const lines = stub.split('\n').length
  const start = stub
    .replace('@VERSION@', version)
    .replace('@PAYLOAD@', sha256(payload).slice(0, 16))
    .replace('@FIRST_LINE@', String(lines))
  const name = `keelson-${version}-linux-${process.arch}`
  const executable = Buffer.concat([Buffer.from(start), payload])
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), executable, { mode: 0o755 })
  writeFileSync(join(folder, `${name}.sha256`), `${sha256(executable)}  ${name}\n`)
  const megabytes = (executable.length / 1e6).toFixed(0)
  process.stdout.write(`${join(folder, name)}  ${megabytes} MB, Node ${process.versions.node}\n`)
} finally {
  rmSync(content, { recursive: true, force: true })
  rmSync(archive, { force: true })
}

/** Node's licence: beside its folder, or in the npm package `node` in that of the platform. */
function license(node: string): string {
  const root = resolve(node, '../..')
  const places = [root, join(root, `node_modules/node-linux-${process.arch}`)].map(place =>
    join(place, 'LICENSE'),
  )
  const found = places.find(existsSync)
  if (!found) throw new Error(`The licence of Node is not in ${places.join(' or ')}.`)
  return found
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
