import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PackageReference } from './package-reference.ts'
import { lastLines, runTool, type ToolResult } from './run-tool.ts'

/**
 * What a registry says. `absent`: it answered that there is no such thing; `unknown`: nobody could be
 * asked (no tool, no network).
 */
export type VersionAnswer =
  | { readonly kind: 'found'; readonly version: string }
  | { readonly kind: 'absent' | 'unknown'; readonly problem: string }

interface Options {
  readonly signal?: AbortSignal | undefined
  /** For PyPI: the Python it will run on, e.g. `3.14`, when that is not the host's. */
  readonly python?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
}

const TIMEOUT_MS = 60_000

/**
 * Asks the package's registry which version the reference means now. Metadata only: the ecosystem's
 * own tool reads it (with the registries and credentials set up for that tool), no package code runs.
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
  problem: lastLines(result.stderr) || 'no answer',
})

const missing = (tool: string): VersionAnswer => ({ kind: 'unknown', problem: `${tool} is not there` })

async function fromNpm({ name, wanted }: PackageReference, options: Options): Promise<VersionAnswer> {
  const command = [
    ...npmCommand(),
    'view',
    `${name}@${wanted ?? 'latest'}`,
    'version',
    '--json',
    '--fetch-retries=1',
  ]
  const result = await runTool(command, { ...options, timeoutMs: TIMEOUT_MS })
  if (result.status === 'missing') return missing('npm')
  if (result.status === 'failed') {
    if (/E404|ETARGET/.test(result.stderr)) {
      return { kind: 'absent', problem: `the registry has no ${name}@${wanted ?? 'latest'}` }
    }
    return {
      kind: 'unknown',
      problem: lastLines(result.stderr.split('\n    at ')[0] ?? '') || 'npm view failed',
    }
  }
  const version = /"([^"]+)"\s*\]?\s*$/.exec(result.stdout)?.[1] // one string, or a list in rising order
  return version
    ? { kind: 'found', version }
    : { kind: 'absent', problem: `the registry has no ${name}@${wanted ?? 'latest'}` }
}

/** `pip index versions`, and where there is no pip, what uv would choose. */
async function fromPypi({ name }: PackageReference, options: Options): Promise<VersionAnswer> {
  const python = options.python ? ['--python-version', options.python] : []
  const pip = await runTool(
    ['python3', '-m', 'pip', 'index', 'versions', name, '--retries', '1', '--timeout', '15', ...python],
    { ...options, timeoutMs: TIMEOUT_MS },
  )
  const version = /^\S+ \(([^()\s]+)\)/m.exec(pip.stdout)?.[1]
  if (pip.status === 'ok' && version) return { kind: 'found', version }
  if (pip.status === 'failed' && /No matching distribution/.test(pip.stderr)) return failed(pip)
  const uv = await runTool(
    [
      'uv',
      'pip',
      'compile',
      '-',
      '--quiet',
      '--no-deps',
      '--no-build',
      '--no-header',
      '--no-annotate',
    ].concat(options.python ? ['--python-version', options.python] : []),
    { ...options, input: name, timeoutMs: TIMEOUT_MS },
  )
  const compiled = /==(\S+)/.exec(uv.stdout)?.[1]
  if (uv.status === 'ok' && compiled) return { kind: 'found', version: compiled }
  return uv.status === 'missing' ? { kind: 'unknown', problem: 'neither pip nor uv is there' } : failed(uv)
}

/** A package may lie deep in its module: every prefix is asked, the longest that is a module wins. */
async function fromGo({ name, wanted }: PackageReference, options: Options): Promise<VersionAnswer> {
  const parts = name.split('/')
  const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('/')).slice(1)
  const env = { ...options.env, GO111MODULE: 'on', GOFLAGS: '-mod=mod', GIT_TERMINAL_PROMPT: '0' }
  const answers = await Promise.all(
    prefixes.map(prefix =>
      runTool(['go', 'list', '-m', '-f', '{{.Version}}', `${prefix}@${wanted ?? 'latest'}`], {
        ...options,
        env,
        timeoutMs: TIMEOUT_MS,
      }),
    ),
  )
  const found = answers.findLast(answer => answer.status === 'ok' && answer.stdout.trim())
  if (found) return { kind: 'found', version: found.stdout.trim() }
  if (answers.some(answer => answer.status === 'missing')) return missing('go')
  const failures = answers.map(failed)
  return failures.find(answer => answer.kind === 'unknown') ?? failures.at(-1) ?? missing('go')
}
