import type { AuthzConfig } from './authz-config.ts'
import { failures } from './failures.ts'

const TYPES = { cedarv1: 'cedar', httpv1: 'pdp' } as const

const LONGEST_SECONDS = 300

/** Checks what the schema cannot say; policies are read later. Fails with `authz_config_invalid`. */
export function assertUsable(config: AuthzConfig, where: string): void {
  const wrong = (problem: string) => failures.authz_config_invalid({ where, problem })
  const { version, type, cedar, pdp } = config
  if (!version) throw wrong('the member version is missing')
  const block = Object.hasOwn(TYPES, type ?? '') ? TYPES[type as keyof typeof TYPES] : undefined
  if (!block) throw wrong('type is one of cedarv1, httpv1')
  const given = { cedar, pdp }
  if (!given[block]) throw wrong(`the member ${block} is missing`)
  const other = block === 'cedar' ? 'pdp' : 'cedar'
  if (given[other]) throw wrong(`it has the member ${other}, which does not go with the type ${type}`)
  if (cedar) {
    if (cedar.policies.length === 0) throw wrong('cedar.policies is empty, so that all would be denied')
    if (cedar.primary_upstream_provider) {
      throw wrong('cedar.primary_upstream_provider is not supported: claims are those of the token')
    }
    if (!IDENTIFIER.test(cedar.group_entity_type || 'THVGroup')) {
      throw wrong('cedar.group_entity_type is the name of a type without "::"')
    }
  }
  if (!pdp) return
  const { url, timeout } = pdp.http
  const parsed = URL.parse(url)
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    throw wrong('pdp.http.url is not an http or https URL')
  }
  if (parsed.username || parsed.password || parsed.search || parsed.hash) {
    throw wrong('pdp.http.url has a user, a query or a fragment')
  }
  if (timeout && !(timeout > 0 && timeout <= LONGEST_SECONDS)) {
    throw wrong(`pdp.http.timeout is a number of seconds up to ${LONGEST_SECONDS}`)
  }
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/
