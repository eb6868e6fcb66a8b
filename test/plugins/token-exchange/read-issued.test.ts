import { describe, expect, test } from 'vitest'
import { countsFor } from '../../../plugins/token-exchange/create-exchange.ts'
import { toAssertionProblem, toExchangeProblem } from '../../../plugins/token-exchange/exchange-problem.ts'
import { readExchanged, readToken } from '../../../plugins/token-exchange/read-issued.ts'

const TYPE = 'urn:ietf:params:oauth:token-type:'
const good = {
  access_token: 'a.b.c',
  issued_token_type: `${TYPE}access_token`,
  token_type: 'Bearer',
  expires_in: 300,
}

describe('a response is used', () => {
  test.each([
    ['as RFC 8693 has it', {}, 300],
    ['whose token type is in lower case', { token_type: 'bearer' }, 300],
    ['whose token is a JWT', { issued_token_type: `${TYPE}jwt` }, 300],
    ['whose token is not for OAuth', { token_type: 'N_A' }, 300],
    ['without a life', { expires_in: undefined }, undefined],
    ['whose life is a text', { expires_in: '300' }, 300],
  ])('%s', (_, other, seconds) => {
    expect(readExchanged({ ...good, ...other }, 'access_token')).toEqual({ token: 'a.b.c', seconds })
  })
})

describe('a response is not used', () => {
  test.each([
    ['without a token', { access_token: undefined }],
    ['whose token is an object', { access_token: { token: 'a' } }],
    ['whose token is empty', { access_token: '' }],
    ['whose token would end the header', { access_token: 'a\r\nx-admin: 1' }],
    ['whose token has a blank', { access_token: 'a b' }],
    ['whose token is not ASCII', { access_token: 'añ' }],
    ['whose token is too large for a header', { access_token: 'a'.repeat(16_385) }],
    ['without a type of the token', { issued_token_type: undefined }],
    ['with a refresh token', { issued_token_type: `${TYPE}refresh_token` }],
    ['with an ID token', { issued_token_type: `${TYPE}id_token` }],
    ['with an ID-JAG that nobody asked for', { issued_token_type: `${TYPE}id-jag` }],
    ['whose token is bound to a key', { token_type: 'DPoP' }],
    ['without a way to use the token', { token_type: undefined }],
    ['that is over already', { expires_in: 0 }],
    ['whose life is negative', { expires_in: -1 }],
    ['whose life is no number', { expires_in: 'soon' }],
    ['whose life is a list', { expires_in: [300] }],
  ])('%s', (_, other) => {
    expect(readExchanged({ ...good, ...other }, 'access_token')).toHaveProperty('problem')
  })

  test('with an access token where an ID-JAG was asked for', () => {
    expect(readExchanged(good, 'id-jag')).toHaveProperty('problem')
  })

  test('of an authorization server whose token is bound to a key', () => {
    expect(readToken({ ...good, token_type: 'mac' })).toHaveProperty('problem')
  })
})

test.each([
  ['an hour', 3600, 3_570_000],
  ['half a minute', 30, 15_000],
  ['a second', 1, 500],
  ['a century', 3_000_000_000, 86_370_000],
  ['nobody knows how long', undefined, 60_000],
])('a token that is good for %s counts for less', (_, seconds, ms) => {
  expect(countsFor({ token: 'a', seconds })).toBe(ms)
})

test.each([
  ['invalid_grant', 'token', 'denied'],
  ['invalid_request', 'token', 'broken'],
  ['invalid_token', 'token', 'broken'],
  ['invalid_target', 'denied', 'denied'],
  ['access_denied', 'denied', 'denied'],
  ['invalid_client', 'broken', 'broken'],
  ['unauthorized_client', 'broken', 'broken'],
  ['unsupported_grant_type', 'broken', 'broken'],
  ['invalid_scope', 'broken', 'broken'],
  ['something_new', 'broken', 'broken'],
])('%s of an exchange means %s, and of an ID-JAG %s', (code, exchange, assertion) => {
  expect(toExchangeProblem({ kind: 'refused', code }).kind).toBe(exchange)
  expect(toAssertionProblem({ kind: 'refused', code }).kind).toBe(assertion)
})
