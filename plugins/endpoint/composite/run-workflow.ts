import { randomUUID } from 'node:crypto'
import { messageOf } from '../../../src/errors.ts'
import type { Actions, StepResult } from './actions.ts'
import { composeOutput } from './compose-output.ts'
import { runStep, SkipRemaining } from './run-step.ts'
import { withDeadline } from './with-deadline.ts'
import { LIMITS, type Step, type Workflow } from './workflow.ts'

/** What a workflow is run with. */
export interface WorkflowRun {
  readonly params: unknown
  readonly actions: Actions
  /** Called when a step has ended, with how many have. */
  readonly onStep?: (done: number, step: Step, result: StepResult) => void
  readonly signal: AbortSignal
}

/**
 * Runs the steps of a workflow, each as soon as those have ended that it depends on, ten at the same time. Returns its
 * output. Rejects when a step fails that the workflow cannot do without; steps that run are cancelled then.
 */
export const runWorkflow = (workflow: Workflow, run: WorkflowRun): Promise<unknown> =>
  withDeadline({ timeout: workflow.timeout, otherwise: LIMITS.workflowMs, signal: run.signal }, signal =>
    runSteps(workflow, { ...run, signal }),
  )

async function runSteps(
  workflow: Workflow,
  { params, actions, onStep, signal: outer }: WorkflowRun,
): Promise<unknown> {
  const { steps } = workflow
  const results = new Map<string, StepResult>()
  const running = new Map<string, Promise<void>>()
  const waiting = new Set(steps)
  const stop = new AbortController()
  const signal = AbortSignal.any([outer, stop.signal])
  const start = Date.now()
  const facts = { id: randomUUID(), step_count: steps.length, start_time: new Date(start).toISOString() }

  const data = (status: 'running' | 'completed') => ({
    params,
    steps: Object.fromEntries(results),
    vars: {},
    workflow: { ...facts, status, duration_ms: Date.now() - start },
  })

  function end(step: Step, result: StepResult): void {
    results.set(step.id, result)
    onStep?.(results.size, step, result)
  }

  const skip = (step: Step) => end(step, { status: 'skipped', output: step.defaultResults })

  async function run(step: Step): Promise<void> {
    try {
      end(step, await runStep(step, { data: data('running'), actions, signal }))
    } catch (error) {
      if (!(error instanceof SkipRemaining)) {
        throw new Error(`step "${step.id}": ${messageOf(error)}`, { cause: error })
      }
      skip(step)
      for (const one of waiting) skip(one)
      waiting.clear()
    }
  }

  function startReady(): void {
    for (const step of waiting) {
      if (running.size >= LIMITS.parallel) return
      if (!(step.dependsOn ?? []).every(id => results.has(id))) continue
      waiting.delete(step)
      running.set(
        step.id,
        run(step).finally(() => running.delete(step.id)),
      )
    }
  }

  try {
    while (waiting.size + running.size > 0) {
      startReady()
      await Promise.race(running.values())
    }
  } catch (error) {
    stop.abort(error)
    await Promise.allSettled(running.values())
    throw error
  }
  return composeOutput(workflow, data('completed'), results)
}
