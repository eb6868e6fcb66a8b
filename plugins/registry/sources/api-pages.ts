import * as t from 'typanion'
import { describeJsonError } from '../../../src/lib/json-error.ts'
import { failures } from '../failures.ts'
import { checkServer, type ParsedRegistry } from '../formats/parse-registry.ts'
import { formatPath } from '../formats/position.ts'
import { registrySchemas } from '../formats/registry-schemas.ts'
import type { ServerJson } from '../formats/server-json.ts'
import type { CachedPage } from './page-cache.ts'

const OFFICIAL = 'io.modelcontextprotocol.registry/official'

const open = { extra: t.isUnknown() }
const metadata = t.isOptional(
  t.isNullable(t.isObject({ nextCursor: t.isOptional(t.isNullable(t.isString())) }, open)),
)
const servers = t.isObject({ servers: t.isNullable(t.isArray(t.isUnknown())), metadata }, open)
const skills = t.isObject({ skills: t.isNullable(t.isArray(t.isUnknown())), metadata }, open)
const SCHEMAS = { servers, skills }

/** The entries of a page of the MCP registry protocol, and the cursor of the next page. Fails with `registry_invalid`. */
export function readPage(
  page: CachedPage,
  member: 'servers' | 'skills',
): { list: readonly unknown[]; next: string | undefined } {
  let value: unknown
  try {
    value = JSON.parse(page.text)
  } catch (error) {
    throw failures.registry_invalid(
      { place: page.url, problems: [describeJsonError(page.text)] },
      { cause: error },
    )
  }
  const errors: string[] = []
  if (!SCHEMAS[member](value, { errors })) {
    const problems = errors.map(line =>
      line.replace(/ \(got .*\)$/s, '').replace(/^\.(\S*: )Expected/, '$1expected'),
    )
    throw failures.registry_invalid({ place: page.url, problems })
  }
  const { metadata: rest, ...lists } = value as { metadata?: { nextCursor?: string | null } | null } & {
    [K in 'servers' | 'skills']?: unknown[] | null
  }
  return { list: lists[member] ?? [], next: rest?.nextCursor || undefined }
}

/** One registry of all pages. What cannot be used is left out and told in `problems`. */
export function toParsed(pages: readonly CachedPage[], { clock }: { clock: () => number }): ParsedRegistry {
  const problems: string[] = []
  const schemas = registrySchemas('shape')
  const byName = new Map<string, ServerJson>()
  for (const page of pages) {
    for (const [i, entry] of readPage(page, 'servers').list.entries()) {
      const server = unwrap(entry)
      const report = (path: (string | number)[], problem: string) =>
        problems.push(`${page.url}: ${formatPath(path)}: ${problem}`)
      if (!checkServer(server, ['servers', i], schemas, report)) continue
      const { status, isLatest } = officialOf(server)
      if (status === 'deleted') continue
      if (!byName.has(server.name) || isLatest === true) byName.set(server.name, server)
    }
  }
  const document = {
    format: 'upstream' as const,
    version: '1.0.0',
    lastUpdated: new Date(clock()).toISOString(),
    servers: [...byName.values()],
    skills: [],
    plugins: [],
    groups: [],
  }
  return { document, problems }
}

/** `{server, _meta}` of the protocol, or a bare server; what the registry adds joins the server's `_meta`. */
function unwrap(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null || !('server' in entry)) return entry
  const { server, _meta } = entry as { server: unknown; _meta?: object }
  if (typeof server !== 'object' || server === null || typeof _meta !== 'object' || _meta === null)
    return server
  return { ...server, _meta: { ..._meta, ...(server as ServerJson)._meta } }
}

const officialOf = (server: ServerJson): { status?: unknown; isLatest?: unknown } => {
  const official = server._meta?.[OFFICIAL]
  return typeof official === 'object' && official !== null ? official : {}
}
