import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { messageOf } from '../../../src/errors.ts'
import type { UpgradeRecord } from '../../state/index.ts'
import type { HostState } from './host-state.ts'

/** Writes the status after a successful upgrade, with its outcome. Never fails: the upgrade itself stands. */
export async function noteUpgraded(
  { store, log, setStatus }: HostState,
  record: UpgradeRecord,
  status: 'running' | 'stopped',
): Promise<void> {
  const { name } = record.to
  try {
    await setStatus(name, status, status === 'running' ? { startedAt: new Date() } : {})
    await store.statuses.noteUpgrade(name, { ...packagesOf(record), outcome: 'upgraded' })
  } catch (error) {
    log.warn(messageOf(error), { workload: name })
  }
}

/** Writes why an upgrade was rolled back. Never fails. */
export async function noteRollback(
  { store, log, inTurn }: HostState,
  record: UpgradeRecord,
  error: unknown,
): Promise<void> {
  const { name } = record.to
  const { to } = packagesOf(record)
  const reason = messageOf(error)
  log.warn(`The upgrade to ${to} was rolled back: ${reason}`, { workload: name })
  const outcome = { ...packagesOf(record), outcome: 'rolled-back', reason } as const
  await inTurn(name, () => store.statuses.noteUpgrade(name, outcome)).catch(problem =>
    log.error(messageOf(problem), { workload: name }),
  )
}

const packagesOf = ({ from, to }: UpgradeRecord) => ({ from: packageOf(from), to: packageOf(to) })

/** How people refer to what the workload runs. */
const packageOf = ({ source, image = '' }: RunConfig): string => source ?? image
