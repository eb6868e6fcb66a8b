import type { Caller } from '../../../src/contracts/caller-auth.ts'

/** Claims by the names that decision points know them by. */
const MAPPINGS = {
  standard: { roles: 'roles', groups: 'groups', scopes: 'scope' },
  mpe: {
    mroles: 'roles',
    mgroups: 'groups',
    scopes: 'scope',
    mclearance: 'clearance',
    mannotations: 'annotations',
  },
} as const

/** Who asks, for a decision point. Scopes are words in one text (RFC 8693, section 4.2). */
export function toPdpPrincipal(
  { subject, claims, groups }: Caller,
  mapping: keyof typeof MAPPINGS,
): Record<string, unknown> {
  const members = Object.entries(MAPPINGS[mapping]).flatMap(([name, claim]) => {
    const value = claims[claim] ?? (claim === 'groups' ? groups : undefined)
    if (value === undefined) return []
    return [[name, name === 'scopes' && typeof value === 'string' ? value.split(' ').filter(Boolean) : value]]
  })
  return { sub: subject, ...Object.fromEntries(members) }
}
