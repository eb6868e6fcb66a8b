import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import type { Status } from '../../../src/contracts/workload.ts'
import { Failure, isFailure, messageOf } from '../../../src/errors.ts'
import type { Outcome } from '../service.ts'

export const chooseFlags = {
  all: flag.boolean('all workloads', { short: 'a' }),
  group: flag.string('the workloads of this group', { placeholder: 'GROUP', short: 'g' }),
}

/** Statuses in which there is something to stop. */
export const UP: ReadonlySet<Status> = new Set([
  'running',
  'starting',
  'unhealthy',
  'auth_retrying',
  'unauthenticated',
])

/** Commands that do one thing to several workloads. */
export abstract class BulkCommand extends BaseCommand {
  /**
   * Prints what went wrong and returns the exit code. An unknown name is a warning when `lenient`:
   * what should be gone is gone.
   */
  protected finish(outcomes: readonly Outcome[], { lenient }: { lenient: boolean }): number {
    const failed = outcomes.filter(outcome => outcome.error !== undefined)
    const single = failed[0]
    if (outcomes.length === 1 && single && !(lenient && isFailure(single.error, 'workload_missing')))
      throw single.error
    let code = 0
    for (const { name, error } of failed) {
      if (lenient && isFailure(error, 'workload_missing')) this.app.log.warn(messageOf(error))
      else {
        code = 1
        const hint = error instanceof Failure && error.hint ? ` ${error.hint}` : ''
        this.app.log.error(`${name}: ${messageOf(error)}${hint}`)
      }
    }
    return code
  }
}
