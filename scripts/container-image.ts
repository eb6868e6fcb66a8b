/**
 * `npm run container-image [TAG]`: builds the container image of keelson with docker or podman (`KEELSON_ENGINE`).
 *
 * It has no base image: this Node with the shared libraries that it needs, the certificates of this machine and our files.
 * There is no shell and no package manager in it, so it runs proxies, endpoints and `serve`, but no packages.
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
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
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string }
const tag = process.argv[2] ?? `keelson:${version}`
const engine = process.env.KEELSON_ENGINE ?? 'docker'
const CERTIFICATES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt']
/** Whose files are copied: their licences belong to them. */
const LICENSES = ['libc6', 'libstdc++6', 'libgcc-s1', 'ca-certificates'].map(
  name => `/usr/share/doc/${name}/copyright`,
)

if (process.platform !== 'linux') {
  process.stderr.write('Error: the container image is built on Linux, from the Node of this machine.\n')
  process.exit(1)
}

const context = mkdtempSync(join(tmpdir(), 'keelson-image-'))
try {
  const root = join(context, 'root')
  const copy = (from: string, to: string = from) => {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    cpSync(from, join(root, to), { recursive: true, dereference: true })
  }
  const node = realpathSync(process.execPath)
  copy(node, '/usr/local/bin/node')
  for (const library of librariesOf(node)) copy(library)
  for (const file of ['dist', 'package.json', 'LICENSE'])
    copy(join(repository, file), `/usr/local/lib/keelson/${file}`)
  rmSync(join(root, 'usr/local/lib/keelson/dist/types'), { recursive: true, force: true })
  const certificates = CERTIFICATES.find(existsSync)
  if (certificates) copy(certificates, '/etc/ssl/certs/ca-certificates.crt')
  for (const license of LICENSES) if (existsSync(license)) copy(license)
  const write = (path: string, text: string) => writeFileSync(join(root, path), text)
  write('etc/passwd', 'keelson:x:1000:1000::/home/keelson:/sbin/nologin\n')
  write('etc/group', 'keelson:x:1000:\n')
  write('etc/nsswitch.conf', 'hosts: files dns\n')
  mkdirSync(join(context, 'home'))
  mkdirSync(join(root, 'tmp'))
  execFileSync('chmod', ['-R', 'go-w,a+rX', root])
  chmodSync(join(root, 'tmp'), 0o1777)
  // The same content makes the same layer.
  execFileSync('find', [root, '-exec', 'touch', '-h', '-d', '@0', '{}', '+'])
  cpSync(join(import.meta.dirname, 'container-image/Dockerfile'), join(context, 'Dockerfile'))
  execFileSync(engine, ['build', '--quiet', '--build-arg', `VERSION=${version}`, '--tag', tag, context], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: { ...process.env, DOCKER_BUILDKIT: process.env.DOCKER_BUILDKIT ?? '0' },
  })
  process.stdout.write(`${tag}  Node ${process.versions.node}, ${process.arch}\n`)
} finally {
  rmSync(context, { recursive: true, force: true })
}

/** The loader and the shared libraries of a program, at the paths where its loader looks for them. */
function librariesOf(program: string): string[] {
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' }).split('\n')
  return lines.flatMap(line => /(?:=> |^\s*)(\/\S+) \(0x/.exec(line)?.[1] ?? [])
}
