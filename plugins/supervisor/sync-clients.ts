import type { App } from '../../src/app.ts'
import { messageOf } from '../../src/errors.ts'

/**
 * Brings the files of client applications up to date with what runs. Never fails: what stands in the
 * way is logged, each problem once while it lasts.
 */
export function createClientSync(app: App): () => Promise<void> {
  const isThere = app.entries.some(entry => entry.services?.includes('clients'))
  let known: readonly string[] = []
  return async () => {
    if (!isThere) return
    const problems = await app
      .service('clients')
      .then(clients => clients.sync())
      .catch((error: unknown) => [error])
    const texts = problems.map(messageOf)
    for (const text of texts) if (!known.includes(text)) app.log.warn(text)
    known = texts
  }
}
