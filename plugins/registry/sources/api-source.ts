import { isFailure } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { failures } from '../failures.ts'
import { registrySchemas } from '../formats/registry-schemas.ts'
import type { ServerJson, SkillEntry } from '../formats/server-json.ts'
import { readPage, toParsed } from './api-pages.ts'
import { type Access, fetchPage, isPassing } from './fetch-page.ts'
import type { Cache, CachedPage } from './page-cache.ts'
import type { ReadOptions, Source } from './registry-source.ts'

const PAGE_SIZE = 100
const MOST_SERVERS = 10_000
const MOST_PAGES = 1_000
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
  const listUrl = (extra: Record<string, string>) =>
    `${root}/v0.1/servers?${new URLSearchParams({ limit: String(PAGE_SIZE), version: 'latest', ...extra })}`

  /** Every page; those the server calls unchanged are taken from the cache. */
  async function fetchAll(
    known: readonly CachedPage[],
    signal: AbortSignal | undefined,
  ): Promise<CachedPage[]> {
    const until = performance.now() + timeouts.listMs
    const pages: CachedPage[] = []
    const seen = new Set<string>()
    let servers = 0
    for (let cursor: string | undefined; ; ) {
      const url = listUrl(cursor === undefined ? {} : { cursor })
      const timeoutMs = Math.max(1, Math.ceil(Math.min(timeouts.answerMs, until - performance.now())))
      const page = await fetchPage(url, access, {
        timeoutMs,
        known: known.find(one => one.url === url),
        signal,
      })
      if (!page)
        throw failures.registry_refused({ place: root, status: 404, problem: 'it has no /v0.1/servers' })
      pages.push(page)
      const { list, next } = readPage(page, 'servers')
      servers += list.length
      if (servers > MOST_SERVERS) throw broken(`it lists more than ${MOST_SERVERS} servers`)
      if (next === undefined) return pages
      if (seen.has(next) || pages.length >= MOST_PAGES) throw broken('its pages never end')
      if (performance.now() > until) {
        const problem = `its pages did not end within ${timeouts.listMs / 1000} seconds`
        throw failures.registry_unreachable({ place: root, problem, kind: 'timeout' })
      }
      seen.add(next)
      cursor = next
    }
  }

  const broken = (problem: string) => failures.registry_invalid({ place: root, problems: [problem] })

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
        const pages = await fetchAll(cached?.pages ?? [], signal)
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
      const page = await fetchPage(listUrl({ search: query }), access, {
        timeoutMs: timeouts.answerMs,
        signal,
      })
      return page ? toParsed([page], { clock }).document.servers : []
    },

    /** An extension of ToolHive's: a registry without it has no skills. */
    async skills({ signal } = {}) {
      const schema = registrySchemas('shape').skill
      const skills: SkillEntry[] = []
      let cursor: string | undefined
      do {
        const words = new URLSearchParams({ limit: String(PAGE_SIZE), ...(cursor ? { cursor } : {}) })
        const url = `${root}/v0.1/x/dev.toolhive/skills?${words}`
        const page = await fetchPage(url, access, { timeoutMs: timeouts.answerMs, signal }).catch(error => {
          // What is no failure is a bug, or the caller has gone.
          if (!isFailure(error) || error.code === 'registry_auth_required') throw error
          if (isPassing(error)) log.warn(`${error.message} Its skills are left out.`)
          return undefined
        })
        if (!page) return skills
        const { list, next } = readPage(page, 'skills')
        skills.push(...list.filter((skill): skill is SkillEntry => schema(skill)))
        if (next === cursor || skills.length > MOST_SERVERS) return skills
        cursor = next
      } while (cursor)
      return skills
    },
  }
}
