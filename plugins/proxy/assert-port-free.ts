import { isPortFree } from '../../src/lib/ports.ts'
import { failures } from './failures.ts'

/** Fails with `port_busy` now, rather than after a pull or a build. */
export async function assertPortFree(host: string, port: number): Promise<void> {
  if (!(await isPortFree(port, host))) throw failures.port_busy({ host, port })
}
