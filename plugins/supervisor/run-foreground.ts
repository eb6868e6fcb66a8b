import type { Supervisor } from '../../src/contracts/workload.ts'
import { failures } from './failures.ts'
import type { WorkloadHost } from './host/workload-host.ts'

/** Runs one workload in this process until it ends or is interrupted. Fails with `workload_failed`. */
export async function runForeground(
  host: WorkloadHost,
  name: string,
  { signal, onUp }: Parameters<Supervisor['foreground']>[1],
): Promise<void> {
  const stop = () => void host.stop(name).catch(() => undefined) // `close` below reports it
  signal.addEventListener('abort', stop)
  try {
    signal.throwIfAborted()
    await host.start(name)
    onUp()
    const last = await host.ended(name)
    if (last?.status === 'error') {
      throw failures.workload_failed({ name, reason: last.status_context ?? 'the reason is unknown' })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', stop)
    await host.close({ handover: false })
  }
}
