import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../src/errors.ts'
import { parseDuration } from '../../../src/lib/duration.ts'
import type { Actions, StepResult, StepRun } from './actions.ts'
import { renderArguments } from './render-arguments.ts'
import { outputOf, textOf } from './tool-result.ts'
import { withDeadline } from './with-deadline.ts'
import { type InnerStep, LIMITS } from './workflow.ts'

/** Calls the tool of a step, again where the step says so. Rejects when it fails, unless the workflow goes on then. */
export async function callStep(
  step: Omit<InnerStep, 'id' | 'type'>,
  { data, actions, signal }: StepRun,
): Promise<StepResult> {
  const { tool = '', onError } = step
  const { retryCount = 0, retryDelay = '1s' } = onError ?? {}
  const delayMs = parseDuration(retryDelay) ?? 0
  for (let tries = 0; ; tries += 1) {
    try {
      return await withDeadline({ timeout: step.timeout, otherwise: LIMITS.stepMs, signal }, until =>
        callOnce(step, { data, actions, signal: until }),
      )
    } catch (error) {
      signal.throwIfAborted()
      const again = tries < retryCount && (await mayRepeat(tool, actions))
      if (!again && onError?.action === 'continue') return { status: 'failed', error: messageOf(error) }
      if (!again) throw error
      await delay(Math.min(delayMs * 2 ** tries, delayMs * 60), undefined, { signal })
    }
  }
}

/** What failed may have been carried out: a call is repeated only if its server says that this does no harm. */
async function mayRepeat(tool: string, actions: Actions): Promise<boolean> {
  const { annotations } = (await actions.describe(tool)) ?? {}
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true
}

async function callOnce(
  { tool = '', arguments: templates = {} }: Pick<InnerStep, 'tool' | 'arguments'>,
  { data, actions, signal }: StepRun,
): Promise<StepResult> {
  const { inputSchema } = (await actions.describe(tool)) ?? {}
  const args = renderArguments(templates, data, inputSchema)
  signal.throwIfAborted()
  const result = await actions.call(tool, args, signal)
  if (result.isError) throw new Error(textOf(result) || 'the tool failed')
  return { status: 'completed', output: outputOf(result), content: result.content ?? [] }
}
