import type { RunConfig } from '../../src/contracts/run-config.ts'
import { unenforcedFailures } from '../../src/contracts/unenforced-failures.ts'
import { failures } from '../../src/errors.ts'
import { isEmpty } from '../../src/lib/is-empty.ts'
import { type ObjectOf, object, optional, textMap } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { checkLogin } from './check-login.ts'
import { mergeHeaders } from './headers/header-flags.ts'
import { assertHeaderName, assertHeaderValue } from './headers/header-rules.ts'
import { remoteAuth } from './remote-auth-members.ts'
import { remoteRequest } from './section-request.ts'

const headerForward = {
  /** Names of secrets by header; read at every start. */
  add_headers_from_secret: optional(textMap),
  add_plaintext_headers: optional(textMap),
}

const members = {
  /** Headers that every request to a remote server gets. */
  header_forward: optional(object(headerForward)),
  remote_auth_config: optional(object(remoteAuth)),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

export type RemoteAuthConfig = NonNullable<RunConfig['remote_auth_config']>
export type HeaderForward = NonNullable<RunConfig['header_forward']>

const MOST_HEADERS = 100

/** Checks the members that say how a remote server is logged in to. */
export const authOutSection: Section = {
  members,
  request: remoteRequest,
  check(config) {
    assertEnforced(config.remote_auth_config ?? {})
    checkLogin(config.remote_auth_config ?? {})
    const { header_forward: headers, remote_auth_config: auth } = config
    const plain = Object.entries(headers?.add_plaintext_headers ?? {})
    const secret = Object.entries(headers?.add_headers_from_secret ?? {})
    assertHeaders(plain, secret)
    const isOwn = (name: string) => name.toLowerCase() === 'authorization'
    if (
      (auth?.bearer_token || auth?.bearer_token_file) &&
      [...plain, ...secret].some(([name]) => isOwn(name))
    ) {
      throw failures.usage({
        text: 'A bearer token and a forwarded header Authorization are the same header.',
        hint: 'Give one of them.',
      })
    }
    if (config.image && !config.remote_url && Object.values({ ...auth, ...headers }).some(Boolean)) {
      throw failures.usage({ text: 'remote_auth_config and header_forward are for remote servers only.' })
    }
    if (auth?.bearer_token && auth.bearer_token_file) {
      throw failures.usage({ text: 'bearer_token and bearer_token_file do not go together.' })
    }
  },
  merge({ header_forward: under, remote_auth_config: auth }, asked) {
    return {
      ...(under && asked.header_forward ? { header_forward: mergeHeaders(under, asked.header_forward) } : {}),
      ...(auth && asked.remote_auth_config
        ? { remote_auth_config: { ...auth, ...asked.remote_auth_config } }
        : {}),
    }
  },
}

function assertHeaders(
  plain: readonly (readonly [string, string])[],
  secret: readonly (readonly [string, string])[],
): void {
  const names = new Set<string>()
  for (const [name] of [...plain, ...secret]) {
    assertHeaderName(name)
    if (names.has(name.toLowerCase())) {
      throw failures.usage({ text: `The forwarded header ${name} has two values.` })
    }
    names.add(name.toLowerCase())
  }
  if (names.size > MOST_HEADERS) {
    throw failures.usage({ text: `At most ${MOST_HEADERS} headers are forwarded, not ${names.size}.` })
  }
  for (const [name, value] of plain) assertHeaderValue(name, value)
  for (const [name, reference] of secret) {
    if (!reference) throw failures.usage({ text: `The forwarded header ${name} names no secret.` })
  }
}

/** Refuses members that this version does not know; what ToolHive has cached is of no use here. */
function assertEnforced(auth: object): void {
  const others = Object.entries(auth).filter(
    ([name, value]) => !Object.hasOwn(remoteAuth, name) && !name.startsWith('cached_') && !isEmpty(value),
  )
  if (others.length) {
    throw unenforcedFailures.section_unenforced({
      members: others.map(([name]) => `remote_auth_config.${name} (a login at the remote server)`),
    })
  }
}
