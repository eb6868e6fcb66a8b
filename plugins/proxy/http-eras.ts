import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Protocol } from '../../src/contracts/workload.ts'
import { protocolOf, type ShownEras } from './eras/protocol-of.ts'
import { effectiveMode, saidProtocol } from './section.ts'

/** Which eras of MCP the HTTP server speaks that is connected, as far as requests of clients have shown it. */
export interface HttpEras {
  /** Whether it has `initialize`. */
  readonly legacy: boolean | undefined
  /** Whether it serves requests of 2026-07-28. */
  readonly stateless: boolean | undefined
  readonly protocol: Protocol | undefined
  note(era: keyof ShownEras, value: boolean): void
  /** Another server is connected, or this one has changed. */
  forget(): void
}

/** @param onChange called when `protocol` has changed */
export function createHttpEras(config: RunConfig, onChange: () => void): HttpEras {
  // A server of HTTP+SSE has no newer revision.
  const said = effectiveMode(config) === 'sse' ? 'legacy' : saidProtocol(config)
  let shown: ShownEras = said ? { legacy: said === 'legacy', stateless: said === 'stateless' } : {}

  function show(next: ShownEras): void {
    if (said) return
    const before = protocolOf(shown)
    shown = next
    if (protocolOf(shown) !== before) onChange()
  }

  return {
    get legacy() {
      return shown.legacy
    },
    get stateless() {
      return shown.stateless
    },
    get protocol() {
      return protocolOf(shown)
    },
    note: (era, value) => show({ ...shown, [era]: value }),
    forget: () => show({}),
  }
}
