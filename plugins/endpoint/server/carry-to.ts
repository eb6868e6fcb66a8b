import type { Dispatcher } from 'undici'
import type { App } from '../../../src/app.ts'
import type { CallerLogin } from '../../../src/contracts/caller-auth.ts'
import { callerHeaders } from '../../callers/index.ts'
import { isUp, type Member, type Members } from '../members/members.ts'
import type { CarryMessages } from './member-connection.ts'

/** How long a request waits for a server that is starting again, in milliseconds. */
const PATIENCE_MS = 10_000

/** What the ways of one client to its servers have in common. */
interface Client {
  readonly members: Members
  readonly agent: Dispatcher
  /** How the client has logged in at the endpoint, as its last message said. */
  readonly login: () => CallerLogin | undefined
}

/** Makes the way of a client to a server. */
export type Ways = (member: Member, client: Client) => CarryMessages

/** Makes ways to servers, through their own proxies. */
export async function createWays(app: App): Promise<Ways> {
  const [callerToken, carry, proxies] = await Promise.all([
    app.service('callerToken'),
    app.service('workloadBridge'),
    app.service('proxies'),
  ])

  /** A server with a login of its own checks the token of the caller as that of any client. No other server gets it. */
  async function headersFor({ name, hasLogin }: Member, login: CallerLogin | undefined) {
    const token = proxies.find(name) ? undefined : await callerToken.required()
    const authorization = hasLogin ? login?.authorization : undefined
    return { ...callerHeaders(token), ...(authorization === undefined ? {} : { authorization }) }
  }

  return ({ name }, { members, agent, login }) => {
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
        callerHeaders: () => headersFor(now(), login()),
        agent,
        log: app.log,
        patienceMs: PATIENCE_MS,
      })
  }
}
