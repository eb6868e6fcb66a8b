import { expect, test } from 'vitest'
import { secretsOfBuildAuth } from '../../../src/lib/build-auth.ts'

test.each([
  [
    'npmrc',
    '//npm.example/:_authToken=abc-123\n//b.example/:_password="cGFzcw=="\nalways-auth=true',
    ['abc-123', 'cGFzcw=='],
  ],
  [
    'netrc',
    'machine a.example login ada password s3cret\nmachine b.example\n  login b\n  password "two words"',
    ['s3cret', 'two'],
  ],
  ['yarnrc', 'npmAuthToken: "tok-1"\n"//r.example/:_authToken" tok-2\nnodeLinker: pnp', ['tok-1', 'tok-2']],
] as const)('the secrets of a %s are found', (name, content, secrets) => {
  expect(secretsOfBuildAuth(name, content)).toEqual(secrets)
})
