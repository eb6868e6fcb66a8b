import type { HelperSession } from './helper-session.ts'

/** The one session that all listeners of a helper are opened in. */
export interface SharedSession {
  /** Returns the session, and begins one where there is none. */
  get(): Promise<HelperSession>
  /** Undefined where there is none, or it could not begin. */
  peek(): Promise<HelperSession | undefined>
  /** The next `get` begins another one. */
  forget(): void
}

export function createSharedSession(
  begin: () => Promise<HelperSession>,
  onEnded: () => Promise<void>,
): SharedSession {
  let current: Promise<HelperSession> | undefined
  return {
    get() {
      if (current) return current
      const made = begin()
      current = made
      const forget = () => {
        if (current === made) current = undefined
      }
      made.then(({ ended }) => ended.then(forget).then(onEnded), forget)
      return made
    },
    peek: async () => current?.catch(() => undefined),
    forget() {
      current = undefined
    },
  }
}
