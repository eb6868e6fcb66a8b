import type { Protocol } from '../../../src/contracts/workload.ts'

/** What a server has shown of the eras that it speaks; undefined: nothing yet. */
export interface ShownEras {
  legacy?: boolean | undefined
  stateless?: boolean | undefined
}

/** What that is called; undefined before a server has shown anything. */
export function protocolOf({ legacy, stateless }: ShownEras): Protocol | undefined {
  if (legacy && stateless) return 'both'
  if (stateless) return 'stateless'
  return legacy || stateless === false ? 'legacy' : undefined
}
