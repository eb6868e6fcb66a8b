import { isObject } from '../../../src/lib/is-object.ts'
import type { StepResult, StepRun } from './actions.ts'
import { callStep } from './call-step.ts'
import { forEach } from './for-each.ts'
import { readTemplate } from './template/render.ts'
import { withDeadline } from './with-deadline.ts'
import { LIMITS, type Step } from './workflow.ts'

/** The person at the client has refused, and no further step is to run. */
export class SkipRemaining extends Error {}

const RUN: Readonly<Record<NonNullable<Step['type']>, (step: Step, run: StepRun) => Promise<StepResult>>> = {
  tool: callStep,
  elicitation: askPerson,
  forEach,
}

/** Runs one step. Rejects when the whole workflow is to end; with `SkipRemaining` when no further step is to run. */
export async function runStep(step: Step, run: StepRun): Promise<StepResult> {
  const { type = 'tool', condition, defaultResults: output } = step
  if (condition !== undefined && !isMet(condition, run.data)) return { status: 'skipped', output }
  return RUN[type](step, run)
}

function isMet(condition: string, data: unknown): boolean {
  const text = readTemplate(condition).render(data).trim()
  if (text !== 'true' && text !== 'false') {
    throw new Error(`its condition is neither "true" nor "false", but "${text.slice(0, 100)}"`)
  }
  return text === 'true'
}

async function askPerson(step: Step, { data, actions, signal }: StepRun): Promise<StepResult> {
  const message = readTemplate(step.message ?? '').render(data)
  const { action, content } = await withDeadline(
    { timeout: step.timeout, otherwise: LIMITS.stepMs, signal },
    until => actions.ask(message, step.schema, until),
  )
  const result = {
    status: 'completed',
    output: { action, content: isObject(content) ? content : {} },
  } as const
  if (action === 'accept') return result
  const refusal = action === 'decline' ? step.onDecline : step.onCancel
  if (refusal?.action === 'continue') return result
  if (refusal?.action === 'skip_remaining') throw new SkipRemaining()
  throw new Error(action === 'decline' ? 'it was declined' : 'it was dismissed')
}
