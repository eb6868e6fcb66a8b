import type { App } from '../app.ts'
import type { Described, Members, Schema, TypeOf } from '../lib/schema.ts'

/** Names in braces of a path: `/groups/{name}` has `name`. */
type ParamsOf<P extends string> = P extends `${string}{${infer N}}${infer R}`
  ? { readonly [K in N]: string } & ParamsOf<R>
  : unknown

/** One request, read and checked. */
export interface Call<P extends string, B extends Schema> {
  readonly params: ParamsOf<P>
  /** The first value of each. */
  readonly query: Readonly<Record<string, string | undefined>>
  readonly body: TypeOf<B>
  /** The header `Host`. */
  readonly host: string | undefined
  /** Aborts when the caller goes away, the time is over or the server ends. */
  readonly signal: AbortSignal
}

/** What a success carries: a document, text, a page, an endless stream of events, or nothing. */
export type Content = Schema | 'text' | 'html' | 'events' | 'empty'

/**
 * The header that shows that a program asks. A page of another site cannot send it: browsers ask the
 * server first (Fetch standard, "CORS-preflight request"), and this one never agrees.
 */
export const CLIENT_HEADER = 'X-Keelson-Client'

/** How failures are written: as text, as the registry's few codes, or all as `{code, message}`. */
export type FailureStyle = 'text' | 'registry' | 'json'

/** One operation of the management API: the route, what it takes and all that it may return. */
export interface Operation<P extends string = string, B extends Schema = Schema> {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As OpenAPI writes it. A path whose last part is a name has no other form with a slash behind it. */
  readonly path: P
  readonly tag: string
  readonly summary: string
  /** Schemas of path parameters; those that are not named may be any text. */
  readonly params?: Members
  /** Query parameters. Texts are checked; true and false are written out, anything else counts as not given. */
  readonly query?: Readonly<Record<string, Schema & Described>>
  readonly body?: B
  /** Fails if what the path names does not exist. Called before the body is read, so that 404 comes before 400. */
  readonly assertThere?: (params: ParamsOf<P>) => unknown
  /**
   * For a GET that fetches what its query names: it is refused without `CLIENT_HEADER`. A page of another
   * site can make a browser send any other GET, without an `Origin`. A POST beside it needs no such header.
   */
  readonly programsOnly?: boolean
  /** The body may be left out. */
  readonly bodyOptional?: boolean
  readonly response: readonly [status: 200 | 201 | 202 | 204, content: Content]
  /** Headers of the success. */
  readonly headers?: Readonly<Record<string, string>>
  /** Where to find what was made, for the `Location` of the success (RFC 9110, 10.2.2). */
  readonly location?: (answer: never) => string
  /** Statuses of failures. Those that any operation may have are added by the host. */
  readonly failures?: readonly number[]
  /** By status: the JSON of failures that have `extra` members. */
  readonly failureSchemas?: Readonly<Record<number, Schema>>
  readonly style?: FailureStyle
  /** It may take minutes: an image is pulled or built. */
  readonly slow?: boolean
  /** Open to everybody, also where callers have to log in. */
  readonly open?: boolean
  readonly handle: (call: Call<P, B>) => unknown
}

/** An event, as it is sent to clients of `/api/v1beta/events`. */
export interface HttpEvent {
  readonly name: string
  readonly data: unknown
}

/** A source of events. */
export interface EventSource {
  /**
   * Reports the present state, if there is one, then every change. Returns a function that ends the reports.
   */
  subscribe(hear: (event: HttpEvent) => void): Promise<() => void>
}

/** Where plugins put their operations. */
export interface Api {
  operation<P extends string, B extends Schema>(operation: Operation<P, B>): void
  /** Adds a source to the stream of events. */
  events(source: EventSource): void
  /** All that was added so far. */
  readonly eventSources: readonly EventSource[]
  /**
   * Goes on with work after the response was sent, also if the caller goes away. The server waits for it
   * before it ends; a failure is logged, and shows where the work itself leaves it.
   */
  background(what: string, work: () => Promise<void>): void
  /** Aborts when the server ends. */
  readonly signal: AbortSignal
}

/** Adds the operations of one plugin. */
export type Routes = (api: Api, app: App) => void | Promise<void>

declare module '../plugin.ts' {
  interface Plugin {
    /** Operations of the management API; only `serve` asks for them. */
    readonly routes?: Routes
  }
  interface PluginEntry {
    /** Whether the plugin has operations of the management API. */
    readonly routes?: boolean
  }
}
