import { messageOf } from '../../../src/errors.ts'
import { parseJson } from '../../../src/lib/parse-json.ts'
import type { StepResult, StepRun } from './actions.ts'
import { callStep } from './call-step.ts'
import { readTemplate } from './template/render.ts'
import { withDeadline } from './with-deadline.ts'
import { LIMITS, type Step } from './workflow.ts'

/** What became of one element of a collection, as templates see it. */
interface Iteration extends Omit<StepResult, 'content'> {
  readonly index: number
  readonly item: unknown
}

/** Runs the inner step for each element of a list, several at the same time. */
export async function forEach(step: Step, run: StepRun): Promise<StepResult> {
  const { collection = '', maxIterations = 100, timeout, onError } = step
  const items = toItems(readTemplate(collection).render(run.data))
  if (items.length > maxIterations) {
    throw new Error(
      `its collection has ${items.length} elements, and "maxIterations" allows ${maxIterations}`,
    )
  }
  try {
    const iterations = await withDeadline(
      { timeout, otherwise: LIMITS.workflowMs, signal: run.signal },
      signal => runAll(step, items, { ...run, signal }),
    )
    const completed = iterations.filter(({ status }) => status === 'completed').length
    const counts = { count: items.length, completed, failed: items.length - completed }
    return { status: 'completed', output: { iterations, ...counts } }
  } catch (error) {
    if (onError?.action !== 'continue' || run.signal.aborted) throw error
    return { status: 'failed', error: messageOf(error) }
  }
}

/** Rejects with the first failure; the other calls are cancelled then. */
async function runAll(
  { itemVar = 'item', maxParallel = LIMITS.parallel, step = {} }: Step,
  items: readonly unknown[],
  { data, actions, signal: outer }: StepRun,
): Promise<Iteration[]> {
  const stop = new AbortController()
  const signal = AbortSignal.any([outer, stop.signal])
  const left = items.entries()
  const iterations: Iteration[] = []

  async function work(): Promise<void> {
    for (const [index, item] of left) {
      signal.throwIfAborted()
      const forEachData = { [itemVar]: item, index }
      const { status, output, error } = await callStep(step, {
        data: { ...data, forEach: forEachData },
        actions,
        signal,
      })
      iterations[index] = { index, item, status, output, ...(error === undefined ? {} : { error }) }
    }
  }

  const workers = Array.from({ length: Math.min(maxParallel, items.length) }, work)
  try {
    await Promise.all(workers)
  } catch (error) {
    stop.abort(error)
    await Promise.allSettled(workers)
    throw error
  }
  return iterations
}

function toItems(text: string): readonly unknown[] {
  const items = fromJson(text)
  if (Array.isArray(items)) return items
  throw new Error('its collection is no JSON list; `json` makes one: {{ json .steps.ID.output.NAME }}')
}

function fromJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
