import { messageOf } from '../../../src/errors.ts'
import type { UpgradeRecord } from '../../state/index.ts'
import { failures } from '../failures.ts'
import type { HostState } from './host-state.ts'
import type { CandidateServer } from './start-candidate.ts'
import { removeInstance } from './stop-instance.ts'
import { type SupervisedServer, superviseServer } from './supervise-server.ts'
import type { UpgradeLeftovers } from './upgrade-leftovers.ts'
import { noteUpgraded } from './upgrade-outcome.ts'

interface UpgradeStep {
  readonly record: UpgradeRecord
  /** Cancels the upgrade until the candidate is promoted. */
  readonly signal: AbortSignal
  readonly leftovers: UpgradeLeftovers
}

/** Starts the candidate beside the running server, checks it, and replaces the server with it. */
export async function replaceServer(
  state: HostState,
  { record, signal, leftovers }: UpgradeStep,
): Promise<void> {
  const { from, to } = record
  const { name } = to
  const entry = state.hosted.get(name)
  if (!entry) throw failures.upgrade_lost({ name })
  const server = await superviseServer(state, to, entry)
  let drained: Promise<void> | undefined
  let old: SupervisedServer | undefined
  await withCandidate({ record, server, signal }, candidate =>
    state.inTurn(name, async () => {
      const current = state.hosted.get(name)
      if (signal.aborted || current?.proxy !== entry.proxy) throw failures.upgrade_lost({ name })
      await candidate.assertUp()
      await state.store.configs.saveOver(from, to)
      current.lifecycle.retire()
      state.hosted.set(name, { ...current, ...server, runtime: current.runtime })
      drained = candidate
        .promote({ graceMs: state.times.drain, signal })
        .drained.finally(() => current.lifecycle.end('stop'))
      await noteUpgraded(state, record, 'running')
      old = current
    }),
  )
  // The upgrade stands from here on, whatever fails.
  const warn = (error: unknown) => state.log.warn(messageOf(error), { workload: name })
  await drained?.catch(warn)
  await old?.access?.close().catch(warn)
  await old?.clients?.close()
  await leftovers.discard(name, () => removeInstance(state, from, entry.runtime))
}

/** Checks the candidate of a workload that is not running, which stays stopped. */
export async function tryWhileStopped(
  state: HostState,
  { record, signal, leftovers }: UpgradeStep,
): Promise<void> {
  const { from, to } = record
  const { name } = to
  const lease = await state.leases.take(name)
  try {
    const log = state.logOf(to)
    const proxy = await state.proxies.open({ ...to, host: '127.0.0.1', port: 0 }, { log })
    try {
      const server = await superviseServer(state, to, { proxy, log })
      await withCandidate({ record, server, signal }, async () => {
        await state.store.configs.saveOver(from, to)
      })
      server.lifecycle.end('stop')
      await server.access?.close()
      await leftovers.discard(name, async () => {
        await removeInstance(state, to, server.runtime)
        await removeInstance(state, from, server.runtime)
      })
      await noteUpgraded(state, record, 'stopped')
    } finally {
      await proxy.close({ graceMs: 0 })
    }
  } finally {
    await lease.release()
  }
}

/** Starts and checks the candidate, then calls `use`. After a failure its streams are closed; its instance stays. */
async function withCandidate(
  { record, server, signal }: { record: UpgradeRecord; server: SupervisedServer; signal: AbortSignal },
  use: (candidate: CandidateServer) => Promise<void>,
): Promise<void> {
  const { lifecycle, access } = server
  const stop = () => lifecycle.end('stop')
  signal.addEventListener('abort', stop)
  try {
    if (signal.aborted) stop()
    await use(await lifecycle.startCandidate(record.wait_ms))
  } catch (error) {
    stop()
    await access?.close()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
