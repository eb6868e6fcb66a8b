import { type ChildProcess, execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { supervisorPaths } from '../plugins/supervisor/control-protocol.ts'
import { findSupervisor } from '../plugins/supervisor/find-supervisor.ts'
import { findPaths } from '../src/paths.ts'
import { here, type Load, load, median, remoteServer } from './paced-run.ts'
import type { Result } from './result.ts'
import { tokenProvider } from './token-provider.ts'

const KINDS = ['plain', 'jwt', 'introspection', 'exchange'] as const
type Kind = (typeof KINDS)[number]
/** New tokens, each called with once to see what the first call costs. */
const FIRST_CALLS = 6
const PACE = { callsPerSecond: 1000, turnMs: 250, turns: 40, warmUpTurns: 12 }
const MOST_MS = 0.15

const exec = promisify(execFile)

/** The flags of each workload: how callers log in, and what the server gets for it. */
function flagsOf(issuer: string): Record<Kind, readonly string[]> {
  const login = ['--oidc-audience', 'bench', '--oidc-insecure-allow-http', '--jwks-allow-private-ip']
  const jwt = ['--oidc-issuer', issuer, ...login]
  return {
    plain: [],
    jwt,
    introspection: ['--oidc-issuer', issuer, '--oidc-introspection-url', `${issuer}/introspect`, ...login],
    exchange: [...jwt, '--token-exchange-url', `${issuer}/token`],
  }
}

/** What was measured of one kind, and how long the first call with a token took, in milliseconds. */
type Measured = Load & { readonly first: number }

/** How long one call takes, in milliseconds. */
async function timeOf(url: string, token: string | undefined): Promise<number> {
  const began = performance.now()
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const authorization = token === undefined ? undefined : { authorization: `Bearer ${token}` }
  const response = await fetch(url, { method: 'POST', headers: { ...headers, ...authorization }, body })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`${url} responded ${response.status}`)
  return performance.now() - began
}

/**
 * What logins of callers add to each call: four workloads of one supervisor of the built program have the same remote
 * server. The first call with a token is the one that asks the provider.
 */
export async function run(): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  const env = { HOME: home, PATH: process.env.PATH ?? '', XDG_RUNTIME_DIR: join(home, 'run') }
  const keelson = async (...args: readonly string[]) =>
    (await exec(process.execPath, [here('../dist/main.js'), ...args], { env })).stdout.trim()
  const [provider, remote] = await Promise.all([tokenProvider(), remoteServer()])
  const children: ChildProcess[] = []
  try {
    const flags = flagsOf(provider.issuer)
    const urls: Partial<Record<Kind, string>> = {}
    for (const kind of KINDS) urls[kind] = await keelson('run', remote.url, '--name', kind, ...flags[kind])
    const pid = (await findSupervisor(supervisorPaths(findPaths(env))))?.info.pid ?? 0
    const firsts: Record<Kind, number[]> = { plain: [], jwt: [], introspection: [], exchange: [] }
    let tokens: Partial<Record<Kind, string>> = {}
    for (let round = 0; round < FIRST_CALLS; round++) {
      const jwt = { jwt: await provider.token(), exchange: await provider.token() }
      tokens = { ...jwt, introspection: `opaque-${round}` }
      for (const kind of KINDS) firsts[kind].push(await timeOf(urls[kind] ?? '', tokens[kind]))
    }
    const asked = { ...provider.counts }
    if (asked.introspections !== FIRST_CALLS || asked.exchanges !== FIRST_CALLS) {
      throw new Error(`${FIRST_CALLS} tokens made ${JSON.stringify(asked)}`)
    }
    const targets = KINDS.map(kind => ({ url: urls[kind] ?? '', token: tokens[kind] }))
    const loads = await load({ targets, pid, ...PACE }, children)
    const measured = KINDS.map((kind, i) => [kind, { ...loads[i], first: median(firsts[kind]) }] as const)
    const isCached = provider.counts.exchanges === asked.exchanges
    const isTold = remote.counts.other === 0 && remote.counts.exchanged > 0
    return toResult(Object.fromEntries(measured) as Record<Kind, Measured>, isCached && isTold)
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

/** @param isValid whether the server got the tokens that it should */
function toResult(measured: Readonly<Record<Kind, Measured>>, isValid: boolean): Result {
  const added = (kind: Kind) => measured[kind].p50 - measured.plain.p50
  const sum = (figure: 'late' | 'total') => KINDS.reduce((sum, kind) => sum + measured[kind][figure], 0)
  return {
    name: 'auth',
    conditions: `${PACE.callsPerSecond} calls a second; supervisor and load in a process each; no core pinned; turns of ${PACE.turnMs} ms`,
    measured: isValid ? sum('total') : 0,
    figures: {
      'calls in 100 that could not be made in time': (sum('late') * 100) / (sum('late') + sum('total')),
      ...Object.fromEntries(KINDS.map(kind => [`ms p50 of a call, ${kind}`, measured[kind].p50])),
      ...Object.fromEntries(
        KINDS.map(kind => [`ms of the first call with a token, ${kind}`, measured[kind].first]),
      ),
      ...Object.fromEntries(
        KINDS.map(kind => [`ms of CPU for a call, ${kind}`, measured[kind].cpu.toFixed(3)]),
      ),
      [`ms p50 that a JWT adds (at most ${MOST_MS})`]: added('jwt').toFixed(3),
      [`ms p50 that introspection adds (at most ${MOST_MS})`]: added('introspection').toFixed(3),
      'ms p50 that an exchange adds to that of the JWT': (added('exchange') - added('jwt')).toFixed(3),
    },
    ok: added('jwt') <= MOST_MS && added('introspection') <= MOST_MS && added('exchange') <= 2 * MOST_MS,
  }
}
