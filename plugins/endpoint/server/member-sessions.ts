import { isUp, type Member, type Members } from '../members/members.ts'
import type { MemberSession } from './member-session.ts'

/** The sessions of one client at the servers of an endpoint. */
export interface MemberSessions {
  /** That at a server. It is opened when it is first used. */
  of(member: Member): MemberSession
  /** That at a server which was used before. */
  find(server: string): MemberSession | undefined
  /** Those at all servers that were used before. */
  all(): Iterable<MemberSession>
  /** Those at the servers whose offers clients see: they run, or ran a while ago. */
  listed(): MemberSession[]
  /** Resolves when all of them have ended. */
  close(): Promise<void>
}

/** How long the tools of a server that is down stay listed, so that a restart changes no list; in milliseconds. */
const KEEP_MS = 30_000

export function createMemberSessions(options: {
  members: Members
  open: (member: Member) => MemberSession
  /** Called when a server is no longer behind the endpoint. */
  onGone: (server: string) => void
  /** Called when other servers are listed, or may be. */
  onChange: () => void
}): MemberSessions {
  const { members, open, onGone, onChange } = options
  const sessions = new Map<string, MemberSession>()
  const downSince = new Map<string, number>()
  let expiry: NodeJS.Timeout | undefined

  function of(member: Member): MemberSession {
    const session = sessions.get(member.name) ?? open(member)
    sessions.set(member.name, session)
    return session
  }

  function membersChanged(): void {
    const now = Date.now()
    const current = new Map(members.current.map(member => [member.name, member]))
    for (const [server, session] of sessions) {
      const member = current.get(server)
      if (member && isUp(member)) downSince.delete(server)
      else if (!downSince.has(server)) downSince.set(server, now)
      if (member) continue
      downSince.delete(server)
      void session.close()
      sessions.delete(server)
      onGone(server)
    }
    clearTimeout(expiry)
    if (downSince.size > 0) expiry = setTimeout(onChange, KEEP_MS).unref()
    onChange()
  }

  const stopHearing = members.onChange(membersChanged)
  return {
    of,
    find: server => sessions.get(server),
    all: () => sessions.values(),
    listed() {
      const now = Date.now()
      return members.current
        .filter(member => isUp(member) || now - (downSince.get(member.name) ?? 0) < KEEP_MS)
        .map(of)
    },
    async close() {
      stopHearing()
      clearTimeout(expiry)
      await Promise.all([...sessions.values()].map(session => session.close()))
    },
  }
}
