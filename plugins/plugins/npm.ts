import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { failures } from './failures.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface NpmInstall {
  /** Folder with the package.json to install for. */
  readonly folder: string
  /** What to install besides; absent: what the package.json asks for. */
  readonly spec?: string
  /** How messages name it. */
  readonly source: string
  readonly env: Env
  readonly signal: AbortSignal
}

/** No such program: npm before 11.10 knows no `--allow-git`, and would install and prepare packages from git. */
const NO_GIT = 'no-git-for-plugins'

/**
 * Runs `npm install` without letting any package run code.
 *
 * Packages that a plugin expects from its host (peers) are left out: `keelson/plugin` is the host itself.
 */
export async function npmInstall({ folder, spec, source, env, signal }: NpmInstall): Promise<void> {
  const { execa } = await import('execa')
  const { command, path } = findNpm(env)
  const options = ['--ignore-scripts', '--omit=dev', '--omit=peer', '--install-links', '--no-bin-links']
  const git = ['--allow-git=none', `--git=${NO_GIT}`]
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error', '--no-global']
  const result = await execa(
    command,
    ['install', `--prefix=${folder}`, ...options, ...git, ...quiet, ...(spec ? ['--', spec] : [])],
    {
      cwd: folder,
      env: { ...env, PATH: path, npm_config_ignore_scripts: 'true' },
      extendEnv: false,
      cancelSignal: signal,
      stdin: 'ignore',
      reject: false,
    },
  )
  if (result.isCanceled) throw failures.plugin_install({ source, problem: 'interrupted.' })
  if (result.code === 'ENOENT') throw failures.plugin_npm_missing()
  if (result.failed) throw failures.plugin_install({ source, problem: npmProblem(result.stderr) })
}

/** npm of the running Node, with that Node first in the path; else the one in the path. */
function findNpm(env: Env): { command: string; path: string } {
  const folder = dirname(process.execPath)
  const name = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const path = env.PATH ?? ''
  if (!existsSync(join(folder, name))) return { command: 'npm', path }
  return { command: join(folder, name), path: `${folder}${delimiter}${path}` }
}

const KNOWN: Readonly<Record<string, string>> = {
  E404: 'there is no such package, or you may not read it.',
  ETARGET: 'the package has no such version.',
  ENOTFOUND: 'the package registry cannot be found.',
  ECONNREFUSED: 'the package registry does not answer.',
  EALLOWGIT: 'it needs a package straight from git, which could run code while it is installed.',
}

/** What npm's error codes mean; else its own words, without decoration and without its log file. */
function npmProblem(stderr: string): string {
  const lines = stderr.split('\n').flatMap(line => /^npm (?:error|ERR!)(.*)/.exec(line)?.[1]?.trim() ?? [])
  const said = lines.map(line => /^code (\w+)$/.exec(line)?.[1]).find(Boolean)
  const code = stderr.includes(NO_GIT) ? 'EALLOWGIT' : said
  const known = code === undefined ? undefined : KNOWN[code]
  if (known) return known
  const words = lines.filter(line => line && !/^code |A complete log/.test(line))
  return words.slice(0, 3).join(' ') || 'it ended without saying why.'
}
