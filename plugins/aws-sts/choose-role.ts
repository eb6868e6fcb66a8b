import { compileMatcher, type Matcher, MatcherTimeout } from './role-matcher.ts'
import type { AwsStsConfig, RoleMapping } from './section.ts'

/** Chooses the role of a caller by its claims; undefined where it has none. */
export type ChooseRole = (claims: Readonly<Record<string, unknown>>) => string | undefined

/**
 * Makes the choice: of the mappings that fit, that with the lowest priority, of equal ones the first; else the
 * fallback. A mapping whose expression fails is passed over. One that takes too long leaves the caller without any
 * role: it could have been passed over on purpose. Fails with `role_matcher_invalid`.
 */
export function createChooseRole(config: AwsStsConfig): ChooseRole {
  const { role_mappings, fallback_role_arn: fallback, role_claim } = config
  const candidates = (role_mappings ?? [])
    .toSorted((a, b) => priorityOf(a) - priorityOf(b))
    .map(mapping => ({ role: mapping.role_arn, fits: toMatcher(mapping, role_claim || 'groups') }))
  return claims => {
    for (const { role, fits } of candidates) {
      try {
        if (fits(claims)) return role
      } catch (error) {
        if (error instanceof MatcherTimeout) return undefined
      }
    }
    return fallback || undefined
  }
}

const priorityOf = ({ priority = Number.MAX_SAFE_INTEGER }: RoleMapping): number => priority

function toMatcher({ claim, matcher }: RoleMapping, roleClaim: string): Matcher {
  if (matcher) return compileMatcher(matcher)
  return claims => {
    const found = Object.hasOwn(claims, roleClaim) ? claims[roleClaim] : undefined
    return Array.isArray(found) ? found.includes(claim) : found === claim
  }
}
