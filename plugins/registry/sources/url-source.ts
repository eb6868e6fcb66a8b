import type { Log } from '../../../src/log.ts'
import { failures } from '../failures.ts'
import { parseRegistry } from '../formats/parse-registry.ts'
import { type Access, fetchPage, isPassing } from './fetch-page.ts'
import type { Cache } from './page-cache.ts'
import type { Source } from './registry-source.ts'

/**
 * A registry file on the network. Asked at every read, but sent again only if it has changed; when it
 * cannot be reached, what it said within the last seven days is used, with a warning.
 */
export const urlSource = (
  url: string,
  { access, cache, log }: { access: Access; cache: Cache; log: Log },
): Source => ({
  kind: 'url',
  place: url,
  async read({ signal } = {}) {
    const known = (await cache.read(url))?.pages[0]
    try {
      const page = await fetchPage(url, access, { timeoutMs: access.timeouts.answerMs, known, signal })
      if (!page) throw failures.registry_refused({ place: url, status: 404, problem: 'not found' })
      const parsed = parseRegistry(page.text, url)
      await cache.write(url, [page])
      return parsed
    } catch (error) {
      if (!known || !isPassing(error)) throw error
      log.warn(`${error.message} What it said last is used.`)
      return parseRegistry(known.text, url)
    }
  },
})
