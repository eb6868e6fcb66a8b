import type { RunConfig } from '../../src/contracts/run-config.ts'
import { unenforcedFailures } from '../../src/contracts/unenforced-failures.ts'
import { failures } from '../../src/errors.ts'
import { wholeMember } from '../../src/http/section-request.ts'
import { isEmpty } from '../../src/lib/is-empty.ts'
import { integer, list, nullable, type ObjectOf, object, optional, text } from '../../src/lib/schema.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import type { Section } from '../../src/plugin.ts'
import { hasOutgoingToken } from '../auth-out/index.ts'

const roleMapping = {
  /** A value that the claim `role_claim` has. */
  claim: optional(text),
  /** A CEL expression over `claims`. */
  matcher: optional(text),
  role_arn: optional(text),
  /** The lowest counts first; without one the mapping comes last. */
  priority: optional(integer),
}

const awsSts = {
  region: optional(text),
  /** Of the signatures; `aws-mcp` without one. */
  service: optional(text),
  role_mappings: optional(nullable(list(object(roleMapping)))),
  fallback_role_arn: optional(text),
  /** `groups` without one. */
  role_claim: optional(text),
  /** `sub` without one. */
  session_name_claim: optional(text),
  /** Upstream provider of `embedded_auth_server_config` whose token STS gets; without one, STS gets the caller's own. */
  subject_provider_name: optional(text),
  /** In seconds; 3600 without one. */
  session_duration: optional(integer),
}

const members = { aws_sts_config: optional(nullable(object(awsSts))) }

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

export type AwsStsConfig = NonNullable<RunConfig['aws_sts_config']>
export type RoleMapping = NonNullable<AwsStsConfig['role_mappings']>[number]

/** What the run config says of credentials of AWS; undefined where it says nothing. */
export const awsStsOf = ({ aws_sts_config: said }: RunConfig): AwsStsConfig | undefined =>
  said && !isEmpty(said) ? said : undefined

const REGION = /^(?:us-gov|[a-z]{2})-[a-z]{4,12}-\d{1,2}$/
const SERVICE = /^[a-z0-9-]{1,64}$/
/** IAM: the role of an account, with its path. */
const ROLE = /^arn:aws(?:-cn|-us-gov)?:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/
const [SHORTEST_SESSION, LONGEST_SESSION] = [900, 43_200]
const MOST_MAPPINGS = 100
const MOST_EXPRESSION = 2000

/** Checks the members that say which credentials of AWS requests are signed with. */
export const awsStsSection: Section = {
  members,
  request: wholeMember('aws_sts_config', { schema: object(awsSts) }),
  middlewareEntries: [
    {
      type: 'awssts',
      parameter: 'aws_sts_config',
      member: 'aws_sts_config',
      repeats: { target_url: 'remote_url' },
    },
  ],
  actsForCallers: config => awsStsOf(config) !== undefined,
  check(config) {
    const aws = awsStsOf(config)
    if (!aws) return
    assertKnown(aws)
    assertTarget(config)
    if (!REGION.test(aws.region ?? '')) {
      throw wrong('aws_sts_config needs a region of AWS, such as eu-west-1.')
    }
    if (aws.service && !SERVICE.test(aws.service)) {
      throw wrong('service of aws_sts_config is the name of a service of AWS, such as aws-mcp.')
    }
    const { session_duration: seconds } = aws
    if (seconds && (seconds < SHORTEST_SESSION || seconds > LONGEST_SESSION)) {
      throw wrong(`session_duration of aws_sts_config is ${SHORTEST_SESSION} to ${LONGEST_SESSION} seconds.`)
    }
    assertRoles(aws)
  },
}

const wrong = (problem: string) => failures.usage({ text: problem })

/** Signing takes the header `Authorization`, and needs to know the host. */
function assertTarget(config: RunConfig): void {
  const { remote_url: remote, image } = config
  if (!remote && !image) return // it is not known yet what the target is
  const url = URL.parse(remote ?? '')
  if (!url) throw wrong('aws_sts_config is for remote servers only.')
  if (url.protocol !== 'https:' && !isLoopback(url.hostname)) {
    throw wrong(
      'aws_sts_config needs an https URL of the server: signed requests could be sent again by others.',
    )
  }
  const { token_exchange_config: exchange, upstream_swap_config: swap } = {
    token_exchange_config: undefined,
    upstream_swap_config: undefined,
    ...config,
  }
  const forwarded = [
    config.header_forward?.add_plaintext_headers,
    config.header_forward?.add_headers_from_secret,
  ]
  const others = [
    ...(hasOutgoingToken(config) ? ['remote_auth_config'] : []),
    ...(isEmpty(exchange) ? [] : ['token_exchange_config']),
    ...(isEmpty(swap) ? [] : ['upstream_swap_config']),
    ...(forwarded.some(headers =>
      Object.keys(headers ?? {}).some(name => name.toLowerCase() === 'authorization'),
    )
      ? ['a forwarded header Authorization']
      : []),
  ]
  if (others.length)
    throw wrong(`aws_sts_config does not go with ${others.join(' and ')}: both authorize requests.`)
}

function assertRoles({ role_mappings, fallback_role_arn: fallback }: AwsStsConfig): void {
  const mappings = role_mappings ?? []
  if (mappings.length === 0 && !fallback) {
    throw wrong('aws_sts_config needs role_mappings or a fallback_role_arn.')
  }
  if (mappings.length > MOST_MAPPINGS) {
    throw wrong(`aws_sts_config has at most ${MOST_MAPPINGS} role_mappings, not ${mappings.length}.`)
  }
  for (const [index, { claim, matcher, role_arn }] of mappings.entries()) {
    const name = `role_mappings[${index}] of aws_sts_config`
    if (Boolean(claim) === Boolean(matcher)) throw wrong(`${name} has either a claim or a matcher.`)
    if ((matcher ?? '').length > MOST_EXPRESSION) {
      throw wrong(`The matcher of ${name} has more than ${MOST_EXPRESSION} characters.`)
    }
    if (!ROLE.test(role_arn ?? '')) throw wrongRole(name, role_arn)
  }
  if (fallback && !ROLE.test(fallback)) throw wrongRole('fallback_role_arn of aws_sts_config', fallback)
}

const wrongRole = (name: string, arn = '') =>
  wrong(
    `${name}: "${arn.slice(0, 100)}" is not the ARN of an IAM role, such as arn:aws:iam::123456789012:role/reader.`,
  )

/** Fails with `section_unenforced` for members that ask for what this version does not have. */
function assertKnown(aws: AwsStsConfig): void {
  const others = Object.entries(aws)
    .filter(([name, value]) => !Object.hasOwn(awsSts, name) && !isEmpty(value))
    .map(([name]) => `aws_sts_config.${name} (credentials of AWS)`)
  if (others.length) throw unenforcedFailures.section_unenforced({ members: others })
}
