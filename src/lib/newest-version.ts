import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readGoSettings } from './go-settings.ts'
import { npmrcEnvironment, readNpmSettings } from './npm-settings.ts'
import type { PackageReference } from './package-reference.ts'
import { readPypiSettings } from './pypi-settings.ts'
import { lastLines, runTool, type ToolResult } from './run-tool.ts'
import { inScratchFolder } from './scratch-folder.ts'
import { toolEnvironment } from './tool-environment.ts'

/**
 * What a registry says. `absent`: there is no such thing; `unfit`: no version of it runs on this Python; `unknown`: it could
 * not be asked (no tool, no network).
 */
export type VersionAnswer =
  | { readonly kind: 'found'; readonly version: string }
  | { readonly kind: 'absent' | 'unfit' | 'unknown'; readonly problem: string }

interface Options {
  readonly signal?: AbortSignal | undefined
  /** For PyPI: the Python it will run on, e.g. `3.14`, when that is not the host's. */
  readonly python?: string | undefined
}

const TIMEOUT_MS = 60_000

/**
 * Asks the package's registry which version the reference means now. Metadata only: the ecosystem's
 * own tool reads it, with the registries and logins set up for that tool and nothing else of the
 * user's settings and variables; no package code runs.
 */
export async function newestVersion(
  reference: PackageReference,
  options: Options = {},
): Promise<VersionAnswer> {
  if (reference.scheme === 'npx') return fromNpm(reference, options)
  return reference.scheme === 'uvx' ? fromPypi(reference, options) : fromGo(reference, options)
}

/** The npm of the running Node, or the one on PATH. */
export function npmCommand(): readonly string[] {
  const own = join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js')
  return existsSync(own) ? [process.execPath, own] : ['npm']
}

const OFFLINE =
  /ECONN|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|EHOST|ENETUNREACH|network|Retrying|[Tt]imed? ?out|connection|dial tcp|no such host|resolve host|no answer within|certificate|CERT_|SSL/

const failed = (result: ToolResult): VersionAnswer => ({
  kind: result.status === 'missing' || OFFLINE.test(result.stderr) ? 'unknown' : 'absent',
  problem: lastLines(result.stderr) || 'no response',
})

const missing = (tool: string): VersionAnswer => ({ kind: 'unknown', problem: `${tool} is not there` })

async function fromNpm({ name, wanted }: PackageReference, { signal }: Options): Promise<VersionAnswer> {
  const { npmrc } = await readNpmSettings(process.env)
  const result = await inScratchFolder(async cwd => {
    const path = join(cwd, 'npmrc')
    await writeFile(path, npmrc, { mode: 0o600 })
    return runTool(
      [
        ...npmCommand(),
        'view',
        `${name}@${wanted ?? 'latest'}`,
        'version',
        '--json',
        '--fetch-retries=1',
        '--location=global', // no settings of folders above
      ],
      {
        cwd,
        signal,
        env: { ...toolEnvironment(process.env, 'npm'), ...npmrcEnvironment(path) },
        timeoutMs: TIMEOUT_MS,
      },
    )
  })
  if (result.status === 'missing') return missing('npm')
  if (result.status === 'failed') {
    if (/E404|ETARGET/.test(result.stderr)) {
      return { kind: 'absent', problem: `the registry has no ${name}@${wanted ?? 'latest'}.` }
    }
    return {
      kind: 'unknown',
      problem: lastLines(result.stderr.split('\n    at ')[0] ?? '') || 'npm view failed',
    }
  }
  const version = /"([^"]+)"\s*\]?\s*$/.exec(result.stdout)?.[1] // one string, or a list in rising order
  return version
    ? { kind: 'found', version }
    : { kind: 'absent', problem: `the registry has no ${name}@${wanted ?? 'latest'}.` }
}

/** The newest version that `pip index versions` prints. */
const newestOf = ({ status, stdout }: ToolResult): string | undefined =>
  status === 'ok' ? /^\S+ \(([^()\s]+)\)/m.exec(stdout)?.[1] : undefined

/** `pip index versions`, and where there is no pip, what uv would choose. */
async function fromPypi({ name }: PackageReference, options: Options): Promise<VersionAnswer> {
  const python = options.python ? ['--python-version', options.python] : []
  const base = toolEnvironment(process.env)
  const ask = { signal: options.signal, timeoutMs: TIMEOUT_MS }
  const versions = ['-m', 'pip', 'index', 'versions', name, '--retries', '1', '--timeout', '15', ...python]
  const env = { ...base, ...(await readPypiSettings(process.env, 'pip')).env }
  const askPip = (...more: readonly string[]) =>
    runTool(['python3', '-I', ...versions, ...more], { ...ask, env })
  const pip = await askPip()
  const version = newestOf(pip)
  if (version) return { kind: 'found', version }
  if (pip.status === 'failed' && /No matching distribution/.test(pip.stderr)) {
    const other = newestOf(await askPip('--ignore-requires-python'))
    return other
      ? { kind: 'unfit', problem: `${name} ${other} needs another version of Python.` }
      : { kind: 'absent', problem: `the package index has no ${name}.` }
  }
  const compile = [
    'pip',
    'compile',
    '-',
    '--quiet',
    '--no-deps',
    '--no-build',
    '--no-header',
    '--no-annotate',
  ]
  const uv = await runTool(['uv', '--no-config', ...compile, ...python], {
    ...ask,
    input: name,
    env: { ...base, ...(await readPypiSettings(process.env, 'uv')).env },
  })
  const compiled = /==(\S+)/.exec(uv.stdout)?.[1]
  if (uv.status === 'ok' && compiled) return { kind: 'found', version: compiled }
  return uv.status === 'missing' ? { kind: 'unknown', problem: 'neither pip nor uv is there' } : failed(uv)
}

/** A package may lie deep in its module: every prefix is asked, the longest that is a module wins. */
async function fromGo({ name, wanted }: PackageReference, { signal }: Options): Promise<VersionAnswer> {
  const settings = await readGoSettings({ signal })
  if (!settings) return missing('go')
  const parts = name.split('/')
  const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('/')).slice(1)
  const env = { ...toolEnvironment(process.env, 'go'), ...settings.env, GOFLAGS: '-mod=mod' }
  const answers = await Promise.all(
    prefixes.map(prefix =>
      runTool(['go', 'list', '-m', '-f', '{{.Version}}', `${prefix}@${wanted ?? 'latest'}`], {
        signal,
        env,
        timeoutMs: TIMEOUT_MS,
      }),
    ),
  )
  const found = answers.findLast(answer => answer.status === 'ok' && answer.stdout.trim())
  if (found) return { kind: 'found', version: found.stdout.trim() }
  const failures = answers.map(failed)
  return failures.find(answer => answer.kind === 'unknown') ?? failures.at(-1) ?? missing('go')
}
