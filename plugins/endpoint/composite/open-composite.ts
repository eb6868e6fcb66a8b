import { isObject } from '../../../src/lib/is-object.ts'
import { memberText, parseRaw } from '../../../src/lib/raw-json.ts'
import type { OpenOwnTools } from '../server/own-tools.ts'
import type { StepWay } from '../server/step-way.ts'
import { createCompositeTools } from './composite-tools.ts'
import { createStepSession, forSteps, isForSteps } from './step-session.ts'
import type { Workflow } from './workflow.ts'

/** Makes the composite tools of an endpoint for a client. */
export const openComposite =
  (workflows: readonly Workflow[], way: StepWay): OpenOwnTools =>
  ({ openSession, initialize, tools, own, tell }) => {
    const session = openSession(way.carry, () => forSteps(initialize()))
    return {
      ...createCompositeTools({
        ...{ workflows, tools, tell, steps: createStepSession(session) },
        async ask(method, params, signal) {
          if (canAskPerson(initialize())) return own.ask(method, params, signal)
          throw new Error('the client has no way to ask a person (elicitation)')
        },
      }),
      session,
      isOfferedTo: request => !isForSteps(request),
      async close() {
        await session.close()
        await way.close()
      },
    }
  }

function canAskPerson(initialize: string): boolean {
  const capabilities = parseRaw(memberText(initialize, 'capabilities') ?? '{}')
  return isObject(capabilities) && isObject(capabilities.elicitation)
}
