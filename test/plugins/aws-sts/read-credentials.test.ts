import { describe, expect, test } from 'vitest'
import { readCredentials } from '../../../plugins/aws-sts/read-credentials.ts'
import { errorCodeOf } from '../../../plugins/aws-sts/sts-error.ts'

const keys = {
  AccessKeyId: 'ASIAIOSFODNN7EXAMPLE',
  SecretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  SessionToken: 'AQoDYXdzEE0a8ANXXXXXXXXNO1ewxE5TijQyp+IEXAMPLE==',
}
const read = {
  accessKeyId: keys.AccessKeyId,
  secretAccessKey: keys.SecretAccessKey,
  sessionToken: keys.SessionToken,
  expiresAt: 2_000_000_000_000,
}
const json = (credentials: object) =>
  JSON.stringify({
    AssumeRoleWithWebIdentityResponse: { AssumeRoleWithWebIdentityResult: { Credentials: credentials } },
  })
const xml = (members: object) =>
  `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
  <Credentials>${Object.entries(members)
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join('\n')}</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`

test('credentials are read from JSON', () => {
  expect(readCredentials(json({ ...keys, Expiration: 2_000_000_000 }))).toEqual(read)
})

test('credentials are read from XML', () => {
  expect(readCredentials(xml({ ...keys, Expiration: '2033-05-18T03:33:20Z' }))).toEqual(read)
})

describe('a response is not used', () => {
  test.each([
    ['without a session token', { SessionToken: undefined }],
    ['whose session token would end the header', { SessionToken: 'a\r\nx-admin: 1' }],
    ['whose key has blanks', { AccessKeyId: 'ASIA IOSFODNN7EXAMPLE' }],
    ['whose secret is an object', { SecretAccessKey: {} }],
    ['whose session token is huge', { SessionToken: 'a'.repeat(10_000) }],
    ['without an end', { Expiration: undefined }],
    ['whose end is no time', { Expiration: 'soon' }],
  ])('%s', (_, other) => {
    const members = { ...keys, Expiration: 2_000_000_000, ...other }
    expect(readCredentials(json(members))).toBeUndefined()
  })

  test.each(['', '<html>', '[]', 'null', '{}', json([])])('%j', text => {
    expect(readCredentials(text)).toBeUndefined()
  })
})

test.each([
  ['{"Error":{"Code":"ExpiredTokenException","Message":"a"}}', 'ExpiredTokenException'],
  ['<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>', 'AccessDenied'],
  ['{"Error":{"Code":"a\\r\\nb\\"<c>"}}', 'abc'],
  ['<html>', 'unnamed'],
])('the code of %s is %s', (text, code) => {
  expect(errorCodeOf(text)).toBe(code)
})
