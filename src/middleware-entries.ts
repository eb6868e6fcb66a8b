import { isDeepStrictEqual } from 'node:util'
import type { App } from './app.ts'
import type { RunConfig } from './contracts/run-config.ts'
import { unenforcedFailures } from './contracts/unenforced-failures.ts'
import { isEmpty } from './lib/is-empty.ts'
import { isObject } from './lib/is-object.ts'

/** A type of entries in ToolHive's `middleware_configs`, and the member that says the same. */
export interface MiddlewareEntry {
  readonly type: string
  /** Of the entry; absent: the entry asks for what always happens where the member says something. */
  readonly parameter?: string
  readonly member: keyof RunConfig & string
  /** What the member means without a value of its own. */
  readonly defaults?: Readonly<Record<string, unknown>>
  /** Whether an entry without the parameter asks for the defaults; else it asks for nothing. */
  readonly isAsk?: boolean
  /** Brings a value into the one spelling that values are compared in. */
  readonly plain?: (value: unknown) => Readonly<Record<string, unknown>>
  /** Members of the value that entries may leave out. */
  readonly mayLack?: readonly string[]
  /** Other parameters of the entry, and what they repeat: paths of the run config, of which one is enough. */
  readonly repeats?: Readonly<Record<string, Repeated | readonly Repeated[]>>
}

type Member = keyof RunConfig & string
type Repeated = Member | `${Member}.${string}`

/**
 * Moves what entries of `middleware_configs` say into the members of the sections that say the same, for documents that
 * ToolHive has exported. Fails with `middleware_differs` where an entry and its member say different things.
 */
export async function takeOverEntries<T extends object>(app: App, document: T): Promise<T> {
  const { middleware_configs: entries, ...members } = Object.fromEntries(Object.entries(document))
  if (!Array.isArray(entries)) return document
  const known = (await app.contributions('sections')).flatMap(
    ({ middlewareEntries = [] }) => middlewareEntries,
  )
  const others: unknown[] = []
  for (const entry of entries) {
    const { type, parameters }: Record<string, unknown> = isObject(entry) ? entry : {}
    const row = known.find(one => one.type === type)
    if (row) takeOver(row, isObject(parameters) ? parameters : {}, members)
    else others.push(entry)
  }
  return { ...members, ...(others.length ? { middleware_configs: others } : {}) } as T
}

function takeOver(
  row: MiddlewareEntry,
  { [row.parameter ?? '']: said, ...rest }: Readonly<Record<string, unknown>>,
  members: Record<string, unknown>,
): void {
  const { type, member, defaults, isAsk, parameter, repeats = {} } = row
  const differs = (other: string) => unenforcedFailures.middleware_differs({ type, member: other })
  if (parameter === undefined && isEmpty(members[member])) throw differs(member)
  const value = isEmpty(said) ? defaults : said
  if (!isEmpty(said) || isAsk) {
    if (isEmpty(members[member])) members[member] = value
    else if (!isSame(row, { said: value, ofMember: members[member] })) throw differs(member)
  }
  for (const [name, value] of Object.entries(rest)) {
    const paths = [repeats[name] ?? []].flat()
    if (isEmpty(value) || paths.some(path => isDeepStrictEqual(valueAt(members, path), value))) continue
    throw differs(paths[0] ?? name)
  }
}

const valueAt = (members: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), members)

function isSame(
  { defaults, plain = toObject, mayLack = [] }: MiddlewareEntry,
  { said, ofMember }: { said: unknown; ofMember: unknown },
): boolean {
  const [entry, member] = [said, ofMember].map(value =>
    withoutEmpty({ ...defaults, ...withoutEmpty(plain(value)) }),
  )
  const lacking = mayLack
    .filter(name => !Object.hasOwn(entry ?? {}, name))
    .map(name => [name, member?.[name]])
  return isDeepStrictEqual(withoutEmpty({ ...entry, ...Object.fromEntries(lacking) }), member)
}

const toObject = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : { value })

const withoutEmpty = (value: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => !isEmpty(member)))
