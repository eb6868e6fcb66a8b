import { STAGES, type Stage } from '../../src/contracts/pipeline.ts'
import { failures } from './failures.ts'

/** Where middlewares of added plugins may stand: after the login, and before the last look at what is sent. */
export const STAGES_OF_ADDED: readonly Stage[] = STAGES.slice(STAGES.indexOf('tools'), STAGES.indexOf('sign'))

/** Fails with `middleware_misplaced` where a middleware of an added plugin is not one, or stands elsewhere. */
export function assertPlace(middleware: unknown, plugin: string): void {
  const { name, stage, wrap }: Record<string, unknown> = { ...(middleware as object) }
  const problem =
    typeof name !== 'string' || !name
      ? 'it has no name'
      : typeof wrap !== 'function'
        ? 'it has no function `wrap`'
        : STAGES_OF_ADDED.some(one => one === stage)
          ? undefined
          : `its stage is "${stage}", and it may be one of ${STAGES_OF_ADDED.join(', ')}`
  if (problem) throw failures.middleware_misplaced({ name: String(name ?? ''), plugin, problem })
}
