import { readdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { WaitOptions } from '../../../src/contracts/runtime.ts'
import { findOnPath } from '../../../src/lib/find-on-path.ts'
import { npmCommand } from '../../../src/lib/newest-version.ts'
import { npmrcEnvironment, readNpmSettings } from '../../../src/lib/npm-settings.ts'
import type { InstallSandbox, WithInstallSandbox } from './install-sandbox.ts'
import { lockProblem, type NpmLock, parseNpmLock } from './npm-lock.ts'

export interface NpmInstall {
  /** Folder with the package.json to install for, written by us. */
  readonly folder: string
  /** An archive in that folder which the package.json names as `file:<archive>`: what the user wants installed. */
  readonly archive?: string | undefined
  /** Whether to leave out what packages expect from their host. */
  readonly omitPeers?: boolean
}

export type NpmResult =
  | { readonly status: 'ok'; readonly lock: NpmLock }
  | { readonly status: 'missing' }
  /** `problem` is one or more sentences. */
  | { readonly status: 'failed'; readonly problem: string }

/** Installs with npm what the package.json of a folder asks for. */
export type InstallWithNpm = (install: NpmInstall, wait?: WaitOptions) => Promise<NpmResult>

/** Not an existing program: npm would clone and prepare packages from git, which runs their code. */
const NO_GIT = 'no-git-for-packages'

const COMMON = [
  '--ignore-scripts',
  '--no-bin-links',
  '--omit=dev',
  `--git=${NO_GIT}`,
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--prefer-offline',
  '--loglevel=error',
  '--logs-max=0',
]

/**
 * Installs packages of strangers: only from the user's registries, without running their code and without links.
 *
 * npm first only resolves versions. The result is checked before anything is fetched.
 */
export const createNpmInstall =
  (withSandbox: WithInstallSandbox): InstallWithNpm =>
  async (install, wait = {}) => {
    const npm = await findNpm(process.env.PATH ?? '')
    if (!npm) return { status: 'missing' }
    const { folder, omitPeers } = install
    const { registries, npmrc, files, proxied } = await readNpmSettings(process.env)
    const installation = {
      tool: 'npm',
      folder,
      registries,
      reads: [...npm.reads, ...files],
      proxied,
    } as const
    return withSandbox(installation, wait, async sandbox => {
      const settings = join(sandbox.home, '.npmrc')
      await writeFile(settings, npmrc, { mode: 0o600 })
      const options = [...COMMON, `--cache=${sandbox.cache}`, ...(omitPeers ? ['--legacy-peer-deps'] : [])]
      const run = (...args: string[]) =>
        sandbox.run([...npm.command, ...args, ...options], {
          env: npmrcEnvironment(settings),
          onLine: line => wait.report?.(`npm: ${line}`, 'detail'),
        })
      const resolved = await run('install', '--package-lock-only', '--no-omit-lockfile-registry-resolved')
      if (resolved.status !== 'ok') return failed(sandbox, resolved)
      const path = join(folder, 'package-lock.json')
      const lock = parseNpmLock(await readFile(path, 'utf8'), path)
      const problem = lockProblem(lock, { registries, archive: install.archive })
      if (problem) return { status: 'failed', problem }
      const fetched = await run('ci')
      if (fetched.status !== 'ok') return failed(sandbox, fetched)
      const link = await findLink(join(folder, 'node_modules'))
      if (link) return { status: 'failed', problem: `${link} is a link, and packages may not contain links.` }
      return { status: 'ok', lock }
    })
  }

/** Finds the npm of the running Node, else the one on PATH; undefined when there is none. */
async function findNpm(path: string): Promise<{ command: string[]; reads: string[] } | undefined> {
  const [program = '', script] = npmCommand()
  const found = script ?? (await findOnPath(program, path))
  if (!found) return undefined
  const file = await realpath(found)
  return /\.c?js$/.test(file)
    ? { command: [process.execPath, file], reads: [resolve(file, '../..')] }
    : { command: [file], reads: [file] }
}

/** The first entry below a folder that is neither a file nor a folder. */
async function findLink(folder: string): Promise<string | undefined> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const link = entries.find(entry => !entry.isFile() && !entry.isDirectory())
  return link && relative(folder, join(link.parentPath, link.name))
}

const KNOWN: Readonly<Record<string, string>> = {
  E404: 'there is no such package, or you may not read it.',
  ETARGET: 'the package has no such version.',
  ENOTFOUND: 'the package registry cannot be found.',
  ECONNREFUSED: 'the package registry does not respond.',
  E502: 'the package registry does not respond.', // the egress proxy's response
  EALLOWGIT: 'it needs a package straight from git, which could run code while it is installed.',
}

/** What npm's error codes mean; else its own words. */
function failed(
  sandbox: InstallSandbox,
  result: Parameters<InstallSandbox['problemOf']>[0],
): Extract<NpmResult, { status: 'failed' }> {
  const said = /^npm (?:error|ERR!) code (\w+)$/m.exec(result.stderr)?.[1]
  const code = result.stderr.includes(NO_GIT) ? 'EALLOWGIT' : said
  const words = { ...result, stderr: result.stderr.replace(/^npm (?:error|ERR!) ?(?:code .*)?/gm, '') }
  const known = code === undefined ? undefined : KNOWN[code]
  return { status: 'failed', problem: known ?? sandbox.problemOf(words) }
}
