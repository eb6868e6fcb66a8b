import type { CallerLogin } from '../../../src/contracts/caller-auth.ts'
import type { Proxies } from '../../../src/contracts/pipeline.ts'
import type { Member, Members } from '../members/members.ts'
import type { Ways } from './carry-to.ts'
import { createMemberAgent } from './member-agent.ts'
import type { CarryMessages } from './member-connection.ts'

/** The way from an endpoint to itself, as its client: steps pass all of its middlewares, as calls of that client do. */
export interface StepWay {
  readonly carry: CarryMessages
  close(): Promise<void>
}

export function createStepWay(options: {
  /** The endpoint. */
  self: Member
  wayTo: Ways
  proxies: Pick<Proxies, 'find'>
  login: () => CallerLogin | undefined
}): StepWay {
  const { self, wayTo, proxies, login } = options
  const members: Members = { current: [self], onChange: () => () => undefined }
  const agent = createMemberAgent({ members, proxies, caller: () => login()?.caller })
  return {
    carry: streams => wayTo(self, { members, login, agent })(streams),
    close: () => agent.destroy(),
  }
}
