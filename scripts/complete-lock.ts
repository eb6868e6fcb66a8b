/**
 * `node scripts/complete-lock.ts`, after a dependency was added: names in package-lock.json the optional
 * packages of other platforms that npm left out.
 *
 * A registry mirror that lacks them makes npm write no entry, and `npm ci` then refuses the file on
 * every machine. An entry needs no address and no checksum as long as its platform does not match.
 * With `--check` nothing is written; exit 1 tells that something is missing.
 */
import { readFileSync, writeFileSync } from 'node:fs'

interface Entry {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

const OS = /(?:^|[-/])(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)(?:-|$)/
const CPU = /-(arm64|arm|ia32|loong64|mips64el|ppc64|ppc64le|riscv64|s390x|wasm32|x64)(?:-|$)/
const LIBC = /-(musl|gnu)(?:eabihf)?$/

const path = 'package-lock.json'
const lock: { packages: Record<string, Entry> } = JSON.parse(readFileSync(path, 'utf8'))
const { packages } = lock

/** Where Node would find the package from this place, if it is locked. */
function find(place: string, name: string): Entry | undefined {
  for (let at = place; ; at = at.replace(/(^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')) {
    const entry = packages[`${at ? `${at}/` : ''}node_modules/${name}`]
    if (entry || at === '') return entry
  }
}

const added: string[] = []
for (const [place, { optionalDependencies = {}, dev }] of Object.entries(packages)) {
  for (const [name, wanted] of Object.entries(optionalDependencies)) {
    if (find(place, name)) continue
    const os = OS.exec(name)?.[1]
    const cpu = CPU.exec(name)?.[1]
    const libc = LIBC.exec(name)?.[1]
    packages[`node_modules/${name}`] = {
      version: wanted.replace(/^[\^~]/, ''),
      ...(dev ? { dev } : {}),
      optional: true,
      ...(os ? { os: [os] } : {}),
      ...(cpu ? { cpu: [cpu] } : {}),
      ...(libc ? { libc: [libc === 'musl' ? 'musl' : 'glibc'] } : {}),
    }
    added.push(name)
  }
}

const checkOnly = process.argv.includes('--check')
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
if (!checkOnly) writeFileSync(path, `${JSON.stringify(lock, undefined, 2)}\n`)
process.stdout.write(added.length ? `missing before: ${added.join(', ')}\n` : 'nothing is missing\n')
process.exitCode = checkOnly && added.length ? 1 : 0
