import { failures } from '../failures.ts'
import { readPage } from './api-pages.ts'
import { type Access, fetchPage } from './fetch-page.ts'
import type { CachedPage } from './page-cache.ts'

/** Entries that a page is asked to hold. */
export const PAGE_SIZE = 100
const MOST_SERVERS = 10_000
const MOST_PAGES = 1_000

/** A page of the newest versions of all servers of the registry at `root`. */
export const listUrl = (root: string, extra: Readonly<Record<string, string>>): string =>
  `${root}/v0.1/servers?${new URLSearchParams({ limit: String(PAGE_SIZE), version: 'latest', ...extra })}`

/** Every page of a registry; those the server calls unchanged are taken from `known`. */
export async function fetchAllPages(
  root: string,
  access: Access,
  { known, signal }: { known: readonly CachedPage[]; signal: AbortSignal | undefined },
): Promise<CachedPage[]> {
  const { timeouts } = access
  const broken = (problem: string) => failures.registry_invalid({ place: root, problems: [problem] })
  const until = performance.now() + timeouts.listMs
  const pages: CachedPage[] = []
  const seen = new Set<string>()
  let servers = 0
  for (let cursor: string | undefined; ; ) {
    const url = listUrl(root, cursor === undefined ? {} : { cursor })
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
