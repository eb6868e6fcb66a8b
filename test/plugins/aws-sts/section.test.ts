import { describe, expect, test } from 'vitest'
import { stsEndpoint } from '../../../plugins/aws-sts/assume-role.ts'
import { awsStsSection } from '../../../plugins/aws-sts/section.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { checkSection } from '../../../src/sections.ts'

const ARN = 'arn:aws:iam::123456789012:role/reader'
const good = { region: 'eu-west-1', fallback_role_arn: ARN }

const check = (aws: unknown, more: object = {}) =>
  checkSection(awsStsSection, {
    schema_version: 'v0.1.0',
    name: 'far',
    port: 0,
    transport: 'streamable-http',
    remote_url: 'https://far.example/mcp',
    aws_sts_config: aws,
    ...more,
  } as RunConfig)

test.each([
  ['nothing', null, { remote_url: undefined }],
  ['what is empty', { region: '', role_mappings: null }, { remote_url: undefined }],
  ['a fallback', good, {}],
  ['the token of another provider', { ...good, subject_provider_name: 'a' }, {}],
  ['a target that is not known yet', good, { remote_url: undefined }],
  ['a claim', { region: 'us-gov-west-1', role_mappings: [{ claim: 'a', role_arn: ARN }] }, {}],
  ['an expression', { region: 'cn-north-1', role_mappings: [{ matcher: 'true', role_arn: ARN }] }, {}],
  ['the longest session', { ...good, session_duration: 43_200 }, {}],
])('%s is taken', (_, aws, more) => {
  expect(() => check(aws, more)).not.toThrow()
})

describe('is refused:', () => {
  test.each([
    ['no region', { region: '' }, 'needs a region'],
    ['a region that is another host', { region: 'evil.example/' }, 'needs a region'],
    ['a service with blanks', { service: 'a b' }, 'is the name of a service'],
    ['no role', { fallback_role_arn: '' }, 'needs role_mappings or a fallback_role_arn'],
    [
      'a user for a role',
      { fallback_role_arn: 'arn:aws:iam::123456789012:user/a' },
      'is not the ARN of an IAM role',
    ],
    ['a short account', { fallback_role_arn: 'arn:aws:iam::1234:role/a' }, 'is not the ARN of an IAM role'],
    ['a mapping without a role', { role_mappings: [{ claim: 'a' }] }, 'is not the ARN of an IAM role'],
    [
      'a mapping with both',
      { role_mappings: [{ claim: 'a', matcher: 'true', role_arn: ARN }] },
      'either a claim or',
    ],
    ['a mapping with neither', { role_mappings: [{ role_arn: ARN }] }, 'either a claim or'],
    [
      'a huge expression',
      { role_mappings: [{ matcher: 'a'.repeat(2001), role_arn: ARN }] },
      'more than 2000',
    ],
    ['a short session', { session_duration: 899 }, '900 to 43200 seconds'],
    ['a long session', { session_duration: 43_201 }, '900 to 43200 seconds'],
    ['what is not known', { external_id: 'a' }, 'aws_sts_config.external_id'],
  ])('%s', (_, more, problem) => {
    expect(() => check({ ...good, ...more })).toThrow(problem)
  })

  test.each([
    ['a server of this machine', { remote_url: undefined, image: 'a' }, 'for remote servers only'],
    ['plain http', { remote_url: 'http://far.example/mcp' }, 'needs an https URL'],
    [
      'a login',
      { remote_auth_config: { issuer: 'https://login.example' } },
      'does not go with remote_auth_config',
    ],
    ['a bearer token', { remote_auth_config: { bearer_token: 'a' } }, 'does not go with remote_auth_config'],
    [
      'an exchange of tokens',
      { token_exchange_config: { token_url: 'https://login.example' } },
      'does not go with token_exchange_config',
    ],
    [
      'a forwarded header Authorization',
      { header_forward: { add_headers_from_secret: { AUTHORIZATION: 'A' } } },
      'a forwarded header Authorization',
    ],
  ])('%s', (_, more, problem) => {
    expect(() => check(good, more)).toThrow(problem)
  })
})

test.each([
  ['eu-west-1', 'https://sts.eu-west-1.amazonaws.com'],
  ['us-gov-west-1', 'https://sts.us-gov-west-1.amazonaws.com'],
  ['cn-north-1', 'https://sts.cn-north-1.amazonaws.com.cn'],
])('the STS of %s is %s', (region, url) => {
  expect(stsEndpoint(region)).toBe(url)
})
