import type * as t from 'typanion'
import { failures as core } from '../../../src/errors.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { describeJsonError } from '../../../src/lib/json-error.ts'
import { failures } from '../failures.ts'
import { findExtension, PUBLISHER } from './extension.ts'
import type { LegacyRegistry, ServerView } from './legacy.ts'
import type { Strictness } from './limits.ts'
import { fromLegacy, WHOLE } from './lossless.ts'
import { createLocator, formatPath, parsePath } from './position.ts'
import { type RegistrySchemas, registrySchemas } from './registry-schemas.ts'
import type { ServerJson } from './server-json.ts'
import { NAMESPACE } from './server-names.ts'
import type { SkillEntry } from './skill-entry.ts'

export interface Group {
  readonly name: string
  readonly description?: string
  readonly servers: readonly ServerJson[]
}

/** A registry's content, whatever it was written in. */
export interface RegistryDocument {
  readonly format: 'upstream' | 'legacy'
  readonly version: string
  readonly lastUpdated: string
  readonly servers: readonly ServerJson[]
  readonly skills: readonly SkillEntry[]
  /** ToolHive's own plugins: carried along, never used. */
  readonly plugins: readonly unknown[]
  readonly groups: readonly Group[]
}

export interface ParsedRegistry {
  readonly document: RegistryDocument
  /** Entries that were left out, each with its place and what is wrong. */
  readonly problems: readonly string[]
}

type Path = (string | number)[]
type Report = (path: Path, problem: string) => void

/**
 * Reads a registry file of either format. `place` is named in failures. One wrong entry costs only
 * itself: it is left out and reported; a file that holds nothing else fails.
 */
export function parseRegistry(text: string, place: string, strictness: Strictness = 'shape'): ParsedRegistry {
  const value = parseJson(text, place)
  const schemas = registrySchemas(strictness)
  const problems: string[] = []
  let locate: ((path: Path) => string) | undefined
  const report: Report = (path, problem) => {
    locate ??= createLocator(text)
    problems.push(`${formatPath(path) || 'the document'} (${locate(path)}): ${problem}`)
  }
  if (isObject(value.data)) {
    if (!check(schemas.upstreamFile, value, [], report)) throw failures.registry_invalid({ place, problems })
    return { document: readUpstream(value as unknown as UpstreamFile, schemas, report), problems }
  }
  if (!isLegacy(value)) {
    throw failures.registry_invalid({
      place,
      problems: ['it has neither `data` (server.json format) nor `servers` (older ToolHive format)'],
    })
  }
  if (!check(schemas.legacyFile, value, [], report)) throw failures.registry_invalid({ place, problems })
  return { document: readLegacy(value as LegacyRegistry, schemas, report), problems }
}

function parseJson(text: string, place: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    throw core.invalid_file({ path: place, problem: describeJsonError(text) }, { cause: error })
  }
  if (isObject(value)) return value
  throw core.invalid_file({ path: place, problem: 'it is not a JSON object.' })
}

const isLegacy = (value: Record<string, unknown>): boolean =>
  ['servers', 'remote_servers', 'groups'].some(key => key in value)

/** Whether the value fits; what does not is reported with its path. */
function check<T>(schema: t.StrictValidator<unknown, T>, value: unknown, at: Path, report: Report): boolean {
  const errors: string[] = []
  if (schema(value, { errors })) return true
  for (const line of errors) {
    const [, path = '', problem = line] = /^(\S*?): (.*)$/s.exec(line) ?? []
    report([...at, ...parsePath(path)], withoutValue(problem))
  }
  return false
}

/** Values may be secrets, or a page long. */
const withoutValue = (problem: string): string =>
  problem
    .replace(/ \(got (.*)\)$/s, (_, got: string) => (got === 'undefined' ? ': it is missing' : ''))
    .replace(/^Expected/, 'expected')

/** Whether a server and what ToolHive adds to it are as the specification says. */
export function checkServer(
  value: unknown,
  at: Path,
  schemas: RegistrySchemas,
  report: Report,
): value is ServerJson {
  if (!check(schemas.server, value, at, report)) return false
  const found = findExtension(value as ServerJson)
  return (
    !found ||
    check(schemas.extension, found.extension, [...at, '_meta', PUBLISHER, NAMESPACE, found.key], report)
  )
}

interface UpstreamFile {
  version?: string
  meta?: { last_updated?: string }
  data: {
    servers?: unknown[]
    skills?: unknown[]
    plugins?: unknown[]
    groups?: { name: string; description?: string; servers?: unknown[] }[]
  }
}

function readUpstream(file: UpstreamFile, schemas: RegistrySchemas, report: Report): RegistryDocument {
  const servers = (list: unknown[] | undefined, at: Path) =>
    (list ?? []).filter((server, i): server is ServerJson => checkServer(server, [...at, i], schemas, report))
  const { data } = file
  return {
    format: 'upstream',
    version: file.version ?? '1.0.0',
    lastUpdated: file.meta?.last_updated ?? '',
    servers: servers(data.servers, ['data', 'servers']),
    skills: (data.skills ?? []).filter((skill, i): skill is SkillEntry =>
      check(schemas.skill, skill, ['data', 'skills', i], report),
    ),
    plugins: data.plugins ?? [],
    groups: (data.groups ?? []).map((group, i) => ({
      ...group,
      servers: servers(group.servers, ['data', 'groups', i, 'servers']),
    })),
  }
}

type LegacyPart = Pick<LegacyRegistry, 'servers' | 'remote_servers'>

function readLegacy(file: LegacyRegistry, schemas: RegistrySchemas, report: Report): RegistryDocument {
  const part = (from: LegacyPart, at: Path): ServerJson[] =>
    (['servers', 'remote_servers'] as const).flatMap(member => {
      const schema = member === 'servers' ? schemas.imageServer : schemas.remoteServer
      return Object.entries(from[member] ?? {})
        .filter(([name, entry]) => {
          const place = [...at, member, name]
          const whole = check(schema, entry, place, report) && entry.custom_metadata?.[WHOLE]
          const path = [...place, 'custom_metadata', WHOLE]
          return whole !== false && (whole === undefined || checkServer(whole, path, schemas, report))
        })
        .map(([name, entry]) => fromLegacy(name, entry as ServerView))
        .filter(server => checkServer(server, [...at, member, server.name], schemas, report))
    })
  return {
    format: 'legacy',
    version: file.version ?? '1.0.0',
    lastUpdated: file.last_updated ?? '',
    servers: part(file, []),
    skills: [],
    plugins: [],
    groups: (file.groups ?? []).map((group, i) => ({
      name: group.name,
      ...(group.description === undefined ? {} : { description: group.description }),
      servers: part(group, ['groups', i]),
    })),
  }
}
