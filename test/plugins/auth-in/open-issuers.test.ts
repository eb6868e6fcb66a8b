import { expect, test } from 'vitest'
import { assertUsable } from '../../../plugins/auth-in/assert-usable.ts'
import type { CallerAuthConfig } from '../../../src/contracts/caller-auth.ts'

const issuers = (...urls: string[]): CallerAuthConfig[] => urls.map(issuer => ({ issuer }))

test.each<CallerAuthConfig>([
  ...issuers(
    'https://accounts.google.com',
    'https://ACCOUNTS.google.com./',
    'https://accounts.google.com:443',
    'https://token.actions.githubusercontent.com',
    'https://gitlab.com',
    'https://login.microsoftonline.com/common/v2.0',
    'https://login.microsoftonline.com/Consumers/v2.0',
    'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    'https://appleid.apple.com',
  ),
  { jwksUrl: 'https://www.googleapis.com/oauth2/v3/certs' },
  { jwksUrl: 'https://login.microsoftonline.com/8a1c7c1e-0000-4000-8000-000000000001/discovery/v2.0/keys' },
  { issuer: 'https://login.example.com', introspectionUrl: 'https://oauth2.googleapis.com/tokeninfo' },
])('with %j the allowed callers must be named', config => {
  const given = { audience: 'us', ...config }

  expect(() => assertUsable(given)).toThrow(/anybody can get a token/)
  expect(() => assertUsable({ ...given, allow: ['sub=ada'] })).not.toThrow()
})

test.each<CallerAuthConfig>(
  issuers(
    'https://login.example.com',
    'https://example.eu.auth0.com/',
    'https://login.microsoftonline.com/8a1c7c1e-0000-4000-8000-000000000001/v2.0',
    'https://gitlab.example.com',
  ),
)('with %j no allowed callers need to be named', config => {
  expect(() => assertUsable({ audience: 'us', ...config })).not.toThrow()
})
