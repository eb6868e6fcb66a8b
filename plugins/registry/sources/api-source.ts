import type { Log } from '../../../src/log.ts'
import { failures } from '../failures.ts'
import type { ServerJson } from '../formats/server-json.ts'
import { toParsed } from './api-pages.ts'
import { fetchAllPages, listUrl } from './fetch-all-pages.ts'
import { type Access, fetchPage, isPassing } from './fetch-page.ts'
import { fetchSkills } from './fetch-skills.ts'
import type { Cache } from './page-cache.ts'
import type { ReadOptions, Source } from './registry-source.ts'

const FRESH_MS = 3_600_000

interface Surroundings {
  readonly access: Access
  readonly cache: Cache
  readonly log: Log
  readonly clock: () => number
}

/** A live registry that speaks the MCP registry protocol, v0.1. */
export function apiSource(base: string, { access, cache, log, clock }: Surroundings): Source {
  const root = base.replace(/\/+$/, '')
  const { timeouts } = access

  async function one(url: string, signal: AbortSignal | undefined): Promise<ServerJson | undefined> {
    const page = await fetchPage(url, access, { timeoutMs: timeouts.answerMs, signal })
    if (!page) return undefined
    const asList = { ...page, text: `{"servers":[${page.text}]}` }
    const { document, problems } = toParsed([asList], { clock })
    if (problems.length) throw failures.registry_invalid({ place: url, problems })
    return document.servers[0]
  }

  return {
    kind: 'api',
    place: base,

    async read({ refresh = false, signal }: ReadOptions = {}) {
      const cached = await cache.read(root)
      if (cached && !refresh && clock() - cached.fetchedAt < FRESH_MS)
        return toParsed(cached.pages, { clock })
      try {
        const pages = await fetchAllPages(root, access, { known: cached?.pages ?? [], signal })
        const parsed = toParsed(pages, { clock })
        await cache.write(root, pages)
        return parsed
      } catch (error) {
        if (!cached || !isPassing(error)) throw error
        log.warn(`${error.message} What it said last is used.`)
        return toParsed(cached.pages, { clock })
      }
    },

    async find(name, { signal } = {}) {
      const cached = await cache.read(root)
      if (cached && clock() - cached.fetchedAt < FRESH_MS) {
        const known = toParsed(cached.pages, { clock }).document.servers.find(server => server.name === name)
        if (known) return known
      }
      const found = await one(`${root}/v0.1/servers/${encodeURIComponent(name)}/versions/latest`, signal)
      return found?.name === name ? found : undefined
    },

    async search(query, { signal } = {}) {
      const page = await fetchPage(listUrl(root, { search: query }), access, {
        timeoutMs: timeouts.answerMs,
        signal,
      })
      return page ? toParsed([page], { clock }).document.servers : []
    },

    skills: ({ signal } = {}) => fetchSkills(root, access, { log, signal }),
  }
}
