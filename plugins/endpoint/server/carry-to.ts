import type { Dispatcher } from 'undici'
import type { App } from '../../../src/app.ts'
import { callerHeaders } from '../../callers/index.ts'
import { isUp, type Member, type Members } from '../members/members.ts'
import type { CarryMessages } from './member-connection.ts'

/** How long a request waits for a server that is starting again, in milliseconds. */
const PATIENCE_MS = 10_000

/** Makes ways to servers: through their own proxies, as the user of this machine. */
export async function createWays(
  app: App,
): Promise<(member: Member, shared: { members: Members; agent: Dispatcher }) => CarryMessages> {
  const [callerToken, carry] = await Promise.all([app.service('callerToken'), app.service('workloadBridge')])
  return ({ name }, { members, agent }) => {
    const now = () => {
      const member = members.current.find(one => one.name === name)
      if (!member || !isUp(member)) throw new Error(`the server "${name}" does not run`)
      return member
    }
    return streams =>
      carry({
        ...streams,
        address: {
          get url() {
            return new URL(now().url)
          },
          get mode() {
            return now().mode
          },
          refresh: async () => void now(),
        },
        callerHeaders: async () => callerHeaders(await callerToken.required()),
        agent,
        log: app.log,
        patienceMs: PATIENCE_MS,
      })
  }
}
