import type { App } from '../../src/app.ts'
import type { Hooks } from '../../src/contracts/hooks.ts'
import { messageOf } from '../../src/errors.ts'

/** Keeps the files of client applications up to date with what runs, and logs what prevents that. */
export function followChanges(app: App): Hooks {
  const sync = async (): Promise<readonly unknown[]> => (await app.service('clients')).sync()
  const syncAndWarn = async () => {
    for (const problem of await sync()) app.log.warn(messageOf(problem))
  }
  let known: readonly string[] = []
  return {
    /** Statuses change often: a problem is logged once while it lasts. */
    async workloadsChanged() {
      const problems = await sync().catch((error: unknown) => [error])
      const texts = problems.map(messageOf)
      for (const text of texts) if (!known.includes(text)) app.log.warn(text)
      known = texts
    },
    groupRemoved: syncAndWarn,
    callerTokenChanged: syncAndWarn,
  }
}
