import type { App } from '../app.ts'
import type { RunConfig } from '../contracts/run-config.ts'
import type { RunOptions } from '../contracts/run-options.ts'
import { isEmpty as asksNothing } from '../lib/is-empty.ts'
import { type Members, type ObjectOf, optional, type Schema } from '../lib/schema.ts'
import { httpFailures } from './failures.ts'

/** What requests that create or edit a workload have of one section, and what its details show. */
export interface SectionRequest<B extends Members = Members, D extends Members = Members> {
  /** Members of the body. One that other plugins do not implement yet is refused unless a section has it. */
  readonly body: B
  /** The options of `run` that the body sets. Empty texts, lists and zeroes count as not given. */
  toOptions(body: ObjectOf<B>): RunOptions
  /**
   * The members of the run config that the body sets and no option does. `kept` is what an edit keeps with the
   * target; what is returned here takes its place.
   */
  toMembers?(body: ObjectOf<B>, kept: Partial<RunConfig>): Partial<RunConfig>
  /** Members of the details of a workload. */
  readonly details?: D
  toDetails?(config: RunConfig): ObjectOf<D>
  /** Members of the run config that an edit keeps unless its body has them. The body has the same names. */
  readonly kept?: readonly (keyof RunConfig & keyof B)[]
  /** Members of the run config that an edit keeps unless `toMembers` returns others, whatever the target is. */
  readonly keptAlways?: readonly (keyof RunConfig)[]
  /** Members of the run config that an edit keeps if it does not change the target. */
  readonly keptWithTarget?: readonly (keyof RunConfig)[]
}

declare module '../plugin.ts' {
  interface Section {
    /** Members that no request can carry make an edit fail, where they are not kept. */
    readonly request?: SectionRequest
  }
}

/** Whether a value is empty, as the details of a workload show members that are not set. */
const isEmpty = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return value === undefined || value === ''
  return Object.values(value).every(isEmpty)
}

/** Fails with `request_unsupported` where a member without effect is not empty, instead of ignoring it silently. */
export function assertUnset(values: Readonly<Record<string, unknown>>): void {
  for (const [member, value] of Object.entries(values)) {
    if (!isEmpty(value)) throw httpFailures.request_unsupported({ member })
  }
}

/**
 * A request with one member of the run config as it stands there, so that details and exports can be sent back. An edit
 * keeps it with the target, unless its body has it; an empty value takes it away.
 */
export const wholeMember = <K extends keyof RunConfig & string>(
  name: K,
  {
    schema,
    check,
  }: {
    readonly schema: Schema
    /** `before` is what an edit would keep. */
    readonly check?: (asked: NonNullable<RunConfig[K]>, before: RunConfig[K] | undefined) => void
  },
): SectionRequest => ({
  body: { [name]: optional(schema) },
  details: { [name]: optional(schema) },
  toOptions: () => ({}),
  toMembers(body: { readonly [member: string]: unknown }, kept) {
    const asked = body[name] as RunConfig[K] | undefined
    if (asked === undefined || asked === null) return {}
    if (asksNothing(asked)) return { [name]: undefined }
    check?.(asked, kept[name])
    return { [name]: asked }
  },
  toDetails: config => (asksNothing(config[name]) ? {} : { [name]: config[name] }),
  keptWithTarget: [name],
})

/** Fails with `file_unconfirmed` where the content of a file would go to a place that it has not gone to before. */
export function assertSentBefore(asked: SentFile, before: SentFile | undefined): void {
  if (!asked.path || (asked.path === before?.path && asked.receiver === before.receiver)) return
  throw httpFailures.file_unconfirmed({ path: asked.path, receiver: asked.receiver ?? '' })
}

interface SentFile {
  readonly path: string | undefined
  readonly receiver: string | undefined
}

/** The requests of the sections of all plugins. */
export const sectionRequests = async (app: App): Promise<SectionRequest[]> =>
  (await app.contributions('sections')).flatMap(({ request }) => request ?? [])

/** Gives the functions of a request the types of its members. */
export const sectionRequest = <B extends Members, D extends Members>(
  request: SectionRequest<B, D>,
): SectionRequest => request as SectionRequest
