import type { Dispatcher } from 'undici'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Log } from '../../../src/log.ts'
import type { TargetPath } from '../backends/target-path.ts'
import type { HttpEras } from '../http-eras.ts'

/** What translating for the HTTP servers of a proxy needs. */
export interface TranslationOptions {
  config: RunConfig
  log: Log
  agent: Dispatcher
  headersTimeoutMs: number
  remote: boolean
  eras: HttpEras
  /** The server that is connected. */
  target: () => TargetPath | undefined
}

/** The same, for one of these servers. */
export type ServerOptions = Omit<TranslationOptions, 'target'> & { target: TargetPath }
