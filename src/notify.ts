import type { App } from './app.ts'
import type { Hooks } from './contracts/hooks.ts'
import { messageOf } from './errors.ts'

/** Calls one hook of every plugin that listens. Never fails. */
export type Notify = <K extends keyof Hooks>(
  hook: K,
  ...args: Parameters<NonNullable<Hooks[K]>>
) => Promise<void>

/** Makes the listeners on the first call, so that each can remember what it did. */
export function createNotify(app: App): Notify {
  let listeners: Promise<readonly Hooks[]> | undefined
  const load = async () => (await app.contributions('hooks')).map(make => make(app))

  return async (hook, ...args) => {
    const warn = (error: unknown) => app.log.warn(messageOf(error))
    listeners ??= load()
    const all = await listeners.catch((error: unknown): Hooks[] => {
      listeners = undefined
      warn(error)
      return []
    })
    await Promise.all(
      all.map(async listener => {
        const listen = listener[hook] as ((...args: readonly unknown[]) => Promise<void>) | undefined
        try {
          await listen?.call(listener, ...args)
        } catch (error) {
          warn(error)
        }
      }),
    )
  }
}
