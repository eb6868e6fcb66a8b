import { type ChildProcess, execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { supervisorPaths } from '../plugins/supervisor/control-protocol.ts'
import { findSupervisor } from '../plugins/supervisor/find-supervisor.ts'
import { findPaths } from '../src/paths.ts'
import { here, type Load, load, median, remoteServer } from './paced-run.ts'
import { withPriority } from './priority.ts'
import type { Result } from './result.ts'
import { tokenProvider } from './token-provider.ts'

const LIMITS = ['--rate-limit', '1000000/1s', '--rate-limit-per-user', '1000000/1s']

/** What each workload does with calls, as flags of `run`; files are in the folder of the benchmark. */
const KINDS = {
  plain: [],
  audit: ['--enable-audit'],
  'audit with data': ['--audit-config', 'data.json'],
  'audit with data and a hash chain': ['--audit-config', 'chain.json'],
  limits: LIMITS,
  policies: ['--authz-config', 'authz.json'],
  'login, policies, limits and audit': [...LIMITS, '--authz-config', 'authz.json', '--enable-audit'],
} as const
/** The one whose callers log in, and that the bounds are for. */
const ALL = 'login, policies, limits and audit'
/** Callers by their groups and tools by their names, as a team would write them. */
const AUTHZ = {
  version: '1.0',
  type: 'cedarv1',
  cedar: {
    policies: [
      '@id("read") permit(principal, action == Action::"call_tool", resource) when { resource.name like "get_*" };',
      '@id("echo") permit(principal, action == Action::"call_tool", resource == Tool::"echo");',
      '@id("never") forbid(principal, action, resource == Tool::"drop_all");',
      '@id("dev") permit(principal in THVGroup::"dev", action, resource) when { resource has readOnlyHint && resource.readOnlyHint };',
    ],
  },
}
type Kind = keyof typeof KINDS
const kinds = Object.keys(KINDS) as Kind[]

/**
 * What a kind adds is the median over blocks of what it adds to the plain proxy in the same block, so that what else
 * the machine does in one block does not decide. A block has 2,000 calls of each kind, of which 20 are above the 99th
 * percentile: pauses for garbage that come every thousand calls are in each block, and the median hides none of them.
 */
const PACE = { callsPerSecond: 1000, turnMs: 250, turns: 56, turnsOfBlock: 8, warmUpTurns: 12 }
/** Of all that policies add together, in milliseconds. */
const [MOST_P50, MOST_P99] = [0.3, 1]

const exec = promisify(execFile)

/** What policies add to each call: workloads of one supervisor of the built program have the same remote server. */
export const run = (): Promise<Result> => withPriority(measure)

async function measure(priority: string): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  const env = { HOME: home, PATH: process.env.PATH ?? '', XDG_RUNTIME_DIR: join(home, 'run') }
  const keelson = async (...args: readonly string[]) =>
    (await exec(process.execPath, [here('../dist/main.js'), ...args], { env, cwd: home })).stdout.trim()
  const data = { includeRequestData: true, includeResponseData: true }
  await writeFile(join(home, 'data.json'), JSON.stringify(data))
  await writeFile(join(home, 'authz.json'), JSON.stringify(AUTHZ))
  await writeFile(join(home, 'chain.json'), JSON.stringify({ ...data, hashChain: true }))
  const [provider, remote] = await Promise.all([tokenProvider(), remoteServer()])
  const login = [
    '--oidc-issuer',
    provider.issuer,
    '--oidc-audience',
    'bench',
    '--oidc-insecure-allow-http',
    '--jwks-allow-private-ip',
  ]
  const children: ChildProcess[] = []
  try {
    const urls = new Map<Kind, string>()
    for (const kind of kinds) {
      const flags = [...KINDS[kind], ...(kind === ALL ? login : [])]
      urls.set(kind, await keelson('run', remote.url, '--name', nameOf(kind), ...flags))
    }
    const pid = (await findSupervisor(supervisorPaths(findPaths(env))))?.info.pid ?? 0
    const token = await provider.token()
    const targets = kinds.map(kind => ({
      url: urls.get(kind) ?? '',
      token: kind === ALL ? token : undefined,
    }))
    const loads = await load({ targets, pid, ...PACE }, children)
    const made = (await readFile(join(home, '.local/share/keelson/audit/audit.jsonl'), 'utf8')).split(
      '\n',
    ).length
    return toResult(new Map(kinds.map((kind, i) => [kind, loads[i]])), { lines: made, priority })
  } finally {
    for (const child of children) child.kill()
    const supervisor = await findSupervisor(supervisorPaths(findPaths(env)))
    if (supervisor) process.kill(supervisor.info.pid, 'SIGTERM')
    provider.close()
    remote.server.close()
    remote.server.closeAllConnections()
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}

const nameOf = (kind: Kind): string => kind.replaceAll(/\W+/g, '-')

const boundOf = (kind: Kind, most: number): string => (kind === ALL ? ` (at most ${most})` : '')

/** @param measured how many lines the audit log has, and which priority the programs had */
function toResult(
  loads: ReadonlyMap<Kind, Load | undefined>,
  { lines, priority }: { lines: number; priority: string },
): Result {
  const of = (kind: Kind, figure: 'p50' | 'p99' | 'cpu') => loads.get(kind)?.[figure] ?? Number.NaN
  const added = (kind: Kind, figure: 'p50' | 'p99') =>
    median(
      (loads.get(kind)?.blocks ?? []).map(
        (block, i) => block[figure] - (loads.get('plain')?.blocks[i]?.[figure] ?? Number.NaN),
      ),
    )
  const sum = (figure: 'late' | 'total') =>
    [...loads.values()].reduce((sum, one) => sum + (one?.[figure] ?? 0), 0)
  const audited = loads.get('audit')?.total ?? 0
  const others = kinds.filter(kind => kind !== 'plain')
  return {
    name: 'policy',
    conditions: `${PACE.callsPerSecond} calls a second; supervisor and load in a process each; no core pinned; ${priority}; turns of ${PACE.turnMs} ms, of which ${PACE.turnsOfBlock} make a block; what is added is the median of ${PACE.turns / PACE.turnsOfBlock} blocks`,
    measured: lines > audited ? sum('total') : 0,
    figures: {
      'calls in 100 that could not be made in time': (sum('late') * 100) / (sum('late') + sum('total')),
      ...Object.fromEntries(kinds.map(kind => [`ms p50 of a call, ${kind}`, of(kind, 'p50')])),
      ...Object.fromEntries(kinds.map(kind => [`ms p99 of a call, ${kind}`, of(kind, 'p99')])),
      ...Object.fromEntries(kinds.map(kind => [`ms of CPU for a call, ${kind}`, of(kind, 'cpu').toFixed(3)])),
      ...Object.fromEntries(
        others.map(kind => [
          `ms p50 that ${kind} adds${boundOf(kind, MOST_P50)}`,
          added(kind, 'p50').toFixed(3),
        ]),
      ),
      ...Object.fromEntries(
        others.map(kind => [
          `ms p99 that ${kind} adds${boundOf(kind, MOST_P99)}`,
          added(kind, 'p99').toFixed(3),
        ]),
      ),
    },
    ok: added(ALL, 'p50') <= MOST_P50 && added(ALL, 'p99') <= MOST_P99,
  }
}
