import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import type { Progress } from '../../../src/cli/progress.ts'
import type { Status } from '../../../src/contracts/workload.ts'
import { Failure, isFailure, messageOf } from '../../../src/errors.ts'
import type { Outcome } from '../service.ts'

export const chooseFlags = {
  all: flag.boolean('all workloads', { short: 'a' }),
  group: flag.string('the workloads of this group', {
    placeholder: 'GROUP',
    completes: 'groups',
    short: 'g',
  }),
}

/** Statuses in which there is something to stop. */
export const UP: ReadonlySet<Status> = new Set([
  'running',
  'starting',
  'unhealthy',
  'auth_retrying',
  'unauthenticated',
])

/** Of commands after which a workload may be gone. */
export const ignoreFlags = {
  'ignore-missing': flag.boolean('do not fail for names that no workload has'),
}

/** Commands that do one thing to several workloads. */
export abstract class BulkCommand extends BaseCommand {
  /** Reports the step with those of the names that a workload has. The others fail without one. */
  protected async reportStep(progress: Progress, verb: string, names: readonly string[]): Promise<void> {
    const known = (await (await this.app.service('workloads')).list({ all: true })).map(({ name }) => name)
    const found = names.filter(name => known.includes(name))
    if (found.length) progress.report(`${verb} ${found.join(', ')}`)
  }

  /** Prints a line for each workload and what went wrong, and returns the exit code. A single error is thrown. */
  protected finish(
    outcomes: readonly Outcome[],
    { done, ignoreMissing = false }: { done: string; ignoreMissing?: boolean },
  ): number {
    const known = outcomes.filter(({ error }) => !(ignoreMissing && isFailure(error, 'workload_missing')))
    const failed = known.filter(({ error }) => error !== undefined)
    for (const { name, error } of known) if (error === undefined) this.print(`${name}: ${done}`)
    if (outcomes.length === 1 && failed[0]) throw failed[0].error
    for (const { name, error } of failed) {
      const hint = error instanceof Failure && error.hint ? ` ${error.hint}` : ''
      this.say(`${name}: ${messageOf(error)}${hint}`)
    }
    return failed.length ? 1 : 0
  }
}
