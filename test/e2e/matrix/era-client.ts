import type { Revision } from './combinations.ts'

/** A client of any era, as far as the features of the matrix need it. */
export interface EraClient {
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolResult>
  /** The names of all tools, page by page. */
  toolNames(): Promise<string[]>
  complete(value: string): Promise<string[]>
  /** Asks to hear of changes of the resource, or of the list of tools. */
  watch(what: 'resource' | 'tools'): Promise<void>
  /** Asks for log messages. */
  wantLogs(): Promise<void>
  /** Parameters of the notifications of a method that have come. */
  heard(method: string): Record<string, unknown>[]
  /** Breaks the connection of the next call after its first event that can be resumed from. */
  cutNextStream(): Cut
  close(): Promise<void>
}

interface CallOptions {
  readonly signal?: AbortSignal
  /** Asks for progress. */
  readonly progress?: boolean
}

export interface ToolResult {
  readonly isError?: boolean
  readonly text: string
}

export interface Cut {
  /** Whether the client has come back with `Last-Event-ID`. */
  resumed: boolean
}

/** Opens a client of a revision. Fails when it and the server do not agree. */
export type Connect = (revision: Revision, url: URL, over: 'sse' | 'streamable-http') => Promise<EraClient>

/** SDKs wait a second before they come back. */
export const RECONNECTION = {
  initialReconnectionDelay: 20,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 5,
}

/** What a client of the matrix says when it is asked. */
export const RESPONSES = {
  sample: { model: 'm', role: 'assistant' as const, content: { type: 'text' as const, text: 'größer → 🙂' } },
  form: { action: 'accept' as const, content: { name: 'ada' } },
  url: { action: 'accept' as const },
  roots: { roots: [{ uri: 'file:///home/ada' }] },
}

/** A `fetch` whose streams can be cut. */
export function cuttingFetch() {
  let armed: Cut | undefined
  let last: Cut | undefined
  return {
    cutNextStream: () => (last = armed = { resumed: false }),
    fetch: async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
      if (last && new Headers(init.headers).has('last-event-id')) last.resumed = true
      const response = await fetch(url, init)
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
      if (!armed || init.method !== 'POST' || !isStream || !response.body) return response
      armed = undefined
      return new Response(response.body.pipeThrough(cutAfterId()), response)
    },
  }
}

function cutAfterId(): TransformStream<Uint8Array, Uint8Array> {
  let seen = ''
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk)
      seen += new TextDecoder().decode(chunk)
      if (/^id:.*\n(.*\n)*\r?\n/m.test(seen)) controller.terminate()
    },
  })
}
