import { expect, test } from 'vitest'
import { isKeelsonSecret, withoutKeelsonSecrets } from '../../../src/lib/keelson-secrets.ts'
import { redactValues } from '../../../src/lib/redact.ts'

test('values are hidden wherever they stand, and the longer of two first', () => {
  expect(redactValues('a=horse b=horseshoe', ['horse', 'horseshoe'])).toBe('a=[redacted] b=[redacted]')
})

test('values of several lines are hidden in JSON too', () => {
  const value = 'first "line"\nsecond'
  const line = JSON.stringify({ msg: `it said ${value}.` })
  expect(JSON.parse(redactValues(line, [value]))).toEqual({ msg: 'it said [redacted].' })
  expect(redactValues(value, [value])).toBe('[redacted]')
})

test('a value too short to be told from other text stays', () => {
  expect(redactValues('exit code 1, 100 %', ['1', ''])).toBe('exit code 1, 100 %')
})

test('programs that are started get no variable that holds secrets for us', () => {
  const env = {
    PATH: '/bin',
    KEELSON_SECRETS_PASSWORD: 'a',
    KEELSON_SECRET_token: 'b',
    OP_SERVICE_ACCOUNT_TOKEN: 'c',
    KEELSON_REMOTE_AUTH_BEARER_TOKEN: 'd',
    SVC_REMOTE_OAUTH_CLIENT_SECRET: 'e',
    KEELSON_DEBUG: '1',
  }
  expect(withoutKeelsonSecrets(env)).toEqual({ PATH: '/bin', KEELSON_DEBUG: '1' })
  expect(isKeelsonSecret('MY_KEELSON_SECRET')).toBe(false)
})
