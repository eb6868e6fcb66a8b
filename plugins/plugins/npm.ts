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

/**
 * Runs `npm install` without letting any package run code.
 *
 * Packages that a plugin expects from its host (peers) are left out: `keelson/plugin` is the host itself.
 */
export async function npmInstall({ folder, spec, source, env, signal }: NpmInstall): Promise<void> {
  const { execa } = await import('execa')
  const { command, path } = findNpm(env)
  const options = ['--ignore-scripts', '--omit=dev', '--omit=peer', '--install-links', '--no-bin-links']
  const quiet = [
    '--allow-git=none',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--loglevel=error',
    '--no-global',
  ]
  const result = await execa(
    command,
    ['install', `--prefix=${folder}`, ...options, ...quiet, ...(spec ? ['--', spec] : [])],
    {
      cwd: folder,
      env: { ...env, PATH: path },
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

/** npm's own words, without its decoration and its log file. */
function npmProblem(stderr: string): string {
  const lines = stderr
    .split('\n')
    .filter(line => line.startsWith('npm error') && !/A complete log|code E\w+$/.test(line))
    .map(line => line.replace(/^npm error( \d{3})?/, '').trim())
    .filter(Boolean)
  return lines.slice(0, 3).join(' ') || 'it ended without saying why.'
}
