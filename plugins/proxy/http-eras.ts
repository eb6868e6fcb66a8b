import type { Exchange } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Protocol } from '../../src/contracts/workload.ts'
import { protocolOf, type ShownEras } from './eras/protocol-of.ts'
import { effectiveMode, saidProtocol } from './section.ts'

/**
 * Which eras of MCP the HTTP server speaks that is connected, as far as requests of clients have shown it. It is known
 * for each path by itself: a client can name any, and must not decide what holds for others.
 */
export interface HttpEras {
  /** What is known of the path of a request. */
  of(exchange: Pick<Exchange, 'url'>): PathEras
  /** Of the path that was found out first. */
  readonly protocol: Protocol | undefined
  /** Another server is connected, or this one has changed. */
  forget(): void
}

interface PathEras {
  /** Whether the server has `initialize`. */
  readonly legacy: boolean | undefined
  /** Whether it serves requests of 2026-07-28. */
  readonly stateless: boolean | undefined
  /** Only for what is certain for every client. */
  note(era: keyof ShownEras, value: boolean): void
}

/** The oldest path beyond this number is forgotten. */
const MOST_PATHS = 100

/** @param onChange called when `protocol` has changed */
export function createHttpEras(config: RunConfig, onChange: () => void): HttpEras {
  // A server of HTTP+SSE has no newer revision.
  const said = effectiveMode(config) === 'sse' ? 'legacy' : saidProtocol(config)
  const fixed = said && { legacy: said === 'legacy', stateless: said === 'stateless' }
  const byPath = new Map<string, ShownEras>()

  function protocol(): Protocol | undefined {
    if (fixed) return protocolOf(fixed)
    for (const shown of byPath.values()) {
      const known = protocolOf(shown)
      if (known) return known
    }
    return undefined
  }

  function change(by: () => void): void {
    const before = protocol()
    by()
    if (protocol() !== before) onChange()
  }

  /** A class, because one is made for each request: V8 takes far longer for a literal with getters. */
  class KnownOfPath implements PathEras {
    readonly #path: string

    constructor(path: string) {
      this.#path = path
    }

    get legacy() {
      return this.#shown?.legacy
    }

    get stateless() {
      return this.#shown?.stateless
    }

    get #shown(): ShownEras | undefined {
      return fixed ?? byPath.get(this.#path)
    }

    note(era: keyof ShownEras, value: boolean): void {
      if (fixed) return
      const path = this.#path
      change(() => {
        byPath.set(path, { ...byPath.get(path), [era]: value })
        const [oldest = path] = byPath.keys()
        if (byPath.size > MOST_PATHS) byPath.delete(oldest)
      })
    }
  }

  return {
    of: ({ url }) => new KnownOfPath(url.split('?', 1)[0] ?? ''),
    get protocol() {
      return protocol()
    },
    forget: () => change(() => byPath.clear()),
  }
}
