import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseChallenges } from '../../../src/net/challenges.ts'

test.each([
  [
    'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull,push"',
    [
      {
        scheme: 'bearer',
        parameters: {
          realm: 'https://auth.docker.io/token',
          service: 'registry.docker.io',
          scope: 'repository:a/b:pull,push',
        },
      },
    ],
  ],
  [
    'Basic realm="a \\"quoted\\" place", Bearer realm=token',
    [
      { scheme: 'basic', parameters: { realm: 'a "quoted" place' } },
      { scheme: 'bearer', parameters: { realm: 'token' } },
    ],
  ],
  [
    'Negotiate abc123==, BASIC REALM = "x"',
    [
      { scheme: 'negotiate', parameters: {} },
      { scheme: 'basic', parameters: { realm: 'x' } },
    ],
  ],
  [
    'Negotiate, Basic realm="x"',
    [
      { scheme: 'negotiate', parameters: {} },
      { scheme: 'basic', parameters: { realm: 'x' } },
    ],
  ],
  ['Bearer realm="unfinished', [{ scheme: 'bearer', parameters: {} }]],
  ['Bearer realm="a",realm="b"', [{ scheme: 'bearer', parameters: { realm: 'a' } }]],
  ['', []],
  [' , ,', []],
  ['"', []],
])('%j', (header, challenges) => {
  expect(parseChallenges(header).map(one => ({ ...one, parameters: { ...one.parameters } }))).toEqual(
    challenges,
  )
})

const token = fc.stringMatching(/^[a-z][a-z0-9-]{0,9}$/)
const challenge = fc.record({
  scheme: token,
  parameters: fc.dictionary(token, fc.string({ unit: 'grapheme-ascii' }), { minKeys: 1, maxKeys: 4 }),
})
const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

test('what is written by the rules is read back', () => {
  fc.assert(
    fc.property(fc.array(challenge, { maxLength: 4 }), challenges => {
      const header = challenges
        .map(
          ({ scheme, parameters }) =>
            `${scheme} ${Object.entries(parameters)
              .map(([name, value]) => `${name}=${quote(value)}`)
              .join(', ')}`,
        )
        .join(', ')
      const read = parseChallenges(header).map(one => ({ ...one, parameters: { ...one.parameters } }))
      expect(read).toEqual(challenges.map(one => ({ ...one, parameters: { ...one.parameters } })))
    }),
  )
})

test('anything else ends, and gives only strings', () => {
  const noise = fc.string({
    unit: fc.constantFrom('a', '=', '"', '\\', ',', ' ', 'Bearer ', 'realm=', '\t', 'é', '='),
  })
  fc.assert(
    fc.property(noise, header => {
      for (const { scheme, parameters } of parseChallenges(header)) {
        expect(scheme).toMatch(/^[!-~]+$/)
        expect(Object.values(parameters).every(value => typeof value === 'string')).toBe(true)
      }
    }),
  )
})
