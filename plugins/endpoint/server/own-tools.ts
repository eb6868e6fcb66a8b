import type { Notification, Request } from '../../../src/net/rpc-message.ts'
import type { CarryMessages } from './member-connection.ts'
import type { MemberSession } from './member-session.ts'
import type { MergedList } from './merged-lists.ts'
import type { OwnRequests } from './own-requests.ts'

/** Tools that an endpoint has itself, for one client. */
export interface OwnTools {
  /** The session of the endpoint at itself, in which they call tools of servers. */
  readonly session: MemberSession
  /** Whether a client that begins with this `initialize` gets them. */
  isOfferedTo(initialize: Request): boolean
  /** The list of tools with them. They come before tools of servers that have the same name. */
  listed(servers: MergedList): MergedList
  /** Whether a request calls one of them. */
  isFor(request: Request): boolean
  /** Returns the response (raw text). */
  call(request: Request): Promise<string>
  /** Notes that the client cancels a request. */
  cancel(notification: Notification): void
  close(): Promise<void>
}

/** Makes them for a client. */
export type OpenOwnTools = (client: {
  openSession: (carry: CarryMessages, initialize: () => string) => MemberSession
  /** The client's parameters of `initialize`; raw text. */
  initialize: () => string
  /** The tools of the servers. */
  tools: () => Promise<MergedList>
  own: Pick<OwnRequests, 'ask'>
  /** Sends the client a notification. */
  tell: (text: string) => void
}) => OwnTools
