import type { RunConfig } from '../../../src/contracts/run-config.ts'

/** Whether a run config lets clients have processes of their own (`--sessions`). */
export const mayServeOneClient = ({ transport, sessions = 'shared' }: RunConfig): boolean =>
  transport === 'stdio' && sessions !== 'shared'
