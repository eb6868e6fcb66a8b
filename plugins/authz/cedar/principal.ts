import type { CedarValueJson } from '@cedar-policy/cedar-wasm/web'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import type { CedarConfig } from '../authz-config.ts'
import type { Unseen } from './attribute-readers.ts'
import { toClaimAttributes, unseenClaims } from './to-values.ts'

/** A caller as policies see it. */
export interface Principal {
  readonly id: string
  readonly attributes: Readonly<Record<string, CedarValueJson>>
  /** Those of its attributes that Cedar has no value for. */
  readonly unseen: Unseen
  /** Ids of its groups. */
  readonly groups: readonly string[]
}

/** Where tokens of common providers have groups; the first that a token has counts. */
const GROUP_CLAIMS = ['groups', 'roles', 'cognito:groups']

/** Makes principals of callers, as a configuration says. One principal is made for each token. */
export function createPrincipals(config: CedarConfig): (caller: Caller) => Principal {
  const { group_claim_name, role_claim_name, multi_valued_claims } = config
  const known = new WeakMap<Caller, Principal>()

  function groupsOf({ claims }: Caller): string[] {
    const groups = group_claim_name
      ? claimAt(claims, group_claim_name)
      : GROUP_CLAIMS.map(name => claims[name]).find(value => value !== undefined)
    const roles = role_claim_name ? claimAt(claims, role_claim_name) : undefined
    return [...new Set([...toNames(groups), ...toNames(roles)])]
  }

  return caller => {
    const before = known.get(caller)
    if (before) return before
    const principal = {
      id: caller.subject,
      attributes: toClaimAttributes(caller.claims, multi_valued_claims ?? []),
      unseen: unseenClaims(caller.claims),
      groups: groupsOf(caller),
    }
    known.set(caller, principal)
    return principal
  }
}

/** A claim by its name, else by a path with dots, such as `realm_access.roles`. */
function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      claims,
    )
}

const toNames = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (name): name is string => typeof name === 'string' && name !== '' && name.isWellFormed(),
  )
