import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { failures } from '../../../src/errors.ts'
import { wholeMember } from '../../../src/http/section-request.ts'
import { isEmpty } from '../../../src/lib/is-empty.ts'
import { nullable, type ObjectOf, object, oneOf, optional, text } from '../../../src/lib/schema.ts'
import type { Section } from '../../../src/plugin.ts'
import { assertHeaderName, hasOutgoingToken } from '../../auth-out/index.ts'
import { nameOf } from '../upstream/upstream-config.ts'
import { FIRST_TOKEN } from './first-token.ts'

const upstreamSwap = {
  /** Of the header that the token is sent in, where `header_strategy` is custom. */
  custom_header_name: optional(text),
  header_strategy: optional(oneOf(['replace', 'custom', ''])),
  /** Whose token is sent; absent: that of the first upstream provider. */
  provider_name: optional(text),
}

const members = { upstream_swap_config: optional(nullable(object(upstreamSwap))) }

declare module '../../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

/** Which token of the caller the server gets, and in which header. */
export interface Swap {
  readonly provider: string
  readonly header: string
}

/**
 * Returns what the server gets; undefined: no token of an upstream provider. No server gets one unasked: with it the
 * server could do whatever the provider lets the caller do.
 */
export function swapOf(config: RunConfig): Swap | undefined {
  const { embedded_auth_server_config: server, upstream_swap_config: said } = config
  if (!server || !said || server.disable_upstream_token_injection) return undefined
  const [first] = server.upstreams
  const { provider_name: provider, header_strategy: strategy, custom_header_name: name } = said
  return {
    provider: provider || nameOf(first ?? {}),
    header: (strategy === 'custom' && name?.toLowerCase()) || 'authorization',
  }
}

/** Checks the members that say which upstream tokens the server gets. */
export const upstreamSwapSection: Section = {
  members,
  request: wholeMember('upstream_swap_config', { schema: object(upstreamSwap) }),
  middlewareEntries: [
    {
      type: 'upstreamswap',
      parameter: 'config',
      member: 'upstream_swap_config',
      defaults: FIRST_TOKEN,
      /** ToolHive's chain has it where nothing else is said. */
      isAsk: true,
    },
  ],
  actsForCallers: config => swapOf(config) !== undefined,
  check(config) {
    const { embedded_auth_server_config: server, upstream_swap_config: said } = config
    if (server?.disable_upstream_token_injection) assertNothingElse(config)
    if (!said) return
    if (!server) throw wrong('upstream_swap_config needs embedded_auth_server_config: it stores the tokens.')
    if (config.transport === 'stdio') {
      throw wrong('upstream_swap_config is for servers that speak HTTP: a stdio server gets no headers.')
    }
    const { header_strategy: strategy, custom_header_name: name, provider_name: provider } = said
    if ((strategy === 'custom') !== Boolean(name)) {
      throw wrong('upstream_swap_config: header_strategy custom and custom_header_name go together.')
    }
    if (name) assertHeaderName(name)
    const names = server.upstreams.map(nameOf)
    if (provider && !names.includes(provider)) {
      throw wrong(`upstream_swap_config names the provider "${provider}"; there are: ${names.join(', ')}.`)
    }
    const others = othersOf(config, (name || 'authorization').toLowerCase())
    if (others.length) {
      throw wrong(`upstream_swap_config does not go with ${others.join(' and ')}: both authorize requests.`)
    }
  },
}

const wrong = (text: string) => failures.usage({ text })

function assertNothingElse(config: RunConfig): void {
  const { upstream_swap_config: swap } = config
  const others = [...(isEmpty(swap) ? [] : ['upstream_swap_config']), ...sectionsOf(config)]
  if (others.length) {
    throw wrong(`disable_upstream_token_injection does not go with ${others.join(' and ')}.`)
  }
}

/** What else gives requests a token of the caller. The sections are those of other plugins, which may not be there. */
const sectionsOf = (config: RunConfig): string[] =>
  Object.entries(config)
    .filter(([name, value]) => ['token_exchange_config', 'aws_sts_config'].includes(name) && !isEmpty(value))
    .map(([name]) => name)

/** What else sets the header. */
function othersOf(config: RunConfig, header: string): string[] {
  const { add_plaintext_headers: plain, add_headers_from_secret: secret } = config.header_forward ?? {}
  const isForwarded = Object.keys({ ...plain, ...secret }).some(name => name.toLowerCase() === header)
  return [
    ...sectionsOf(config),
    ...(hasOutgoingToken(config) && header === 'authorization' ? ['remote_auth_config'] : []),
    ...(isForwarded ? [`a forwarded header ${header}`] : []),
  ]
}
