import { describe, expect, test } from 'vitest'
import { formatDuration } from '../../../src/lib/duration.ts'
import { describeJsonError } from '../../../src/lib/json-error.ts'
import { parseLabel, userLabels } from '../../../src/lib/labels.ts'
import { parseOciReference } from '../../../src/lib/oci-reference.ts'
import { findFreePort, isPortFree } from '../../../src/lib/ports.ts'
import { isRunning, processIdentity } from '../../../src/lib/process-identity.ts'
import { redact } from '../../../src/lib/redact.ts'
import { suggest } from '../../../src/lib/suggest.ts'

const digest = `sha256:${'a'.repeat(64)}`

describe('image references', () => {
  test.each([
    ['nginx', { registry: undefined, repository: 'nginx', tag: undefined, digest: undefined }],
    ['a/b:1.2', { registry: undefined, repository: 'a/b', tag: '1.2', digest: undefined }],
    ['localhost/x', { registry: 'localhost', repository: 'x', tag: undefined, digest: undefined }],
    ['127.0.0.1:5000/x/y:v', { registry: '127.0.0.1:5000', repository: 'x/y', tag: 'v', digest: undefined }],
    [`ghcr.io/a/b:1@${digest}`, { registry: 'ghcr.io', repository: 'a/b', tag: '1', digest }],
  ])('%s', (text, parts) => {
    expect(parseOciReference(text)).toEqual(parts)
  })

  test.each([
    '',
    'UPPER',
    'a//b',
    '/a',
    'a:',
    'a b',
    '-a',
    'a@sha256:xyz',
    'a:b:c',
    '../x',
    `x${'y'.repeat(300)}`,
  ])('"%s" is none', text => {
    expect(parseOciReference(text)).toBeUndefined()
  })
})

describe('labels', () => {
  test.each([
    ['a=b', ['a', 'b']],
    ['example.com/key=v.1', ['example.com/key', 'v.1']],
    ['empty=', ['empty', '']],
  ])('%s', (text, pair) => {
    expect(parseLabel(text)).toEqual(pair)
  })

  test.each(['a', '=b', 'a=-b', '-a=b', 'a/b/c=d', 'a=x y', `a=${'x'.repeat(64)}`])('"%s" is none', text => {
    expect(parseLabel(text)).toBeUndefined()
  })

  test('ours are not shown to the user', () => {
    expect(userLabels({ keelson: 'true', 'keelson-name': 'x', mine: '1' })).toEqual({ mine: '1' })
  })
})

test.each([
  [7_200_000, '2h0m0s'],
  [90_000, '1m30s'],
  [500, '500ms'],
  [0, '0s'],
])('%d ms is written %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

test.each([
  ['{\n  "a": 1,\n  b\n}', 'line 3, column 3'],
  ['{\n"token": "s3cret" x\n}', 'line 2, column 19'],
  ['', 'line 1, column 1'],
])('the error of %j names its place and quotes nothing', (text, place) => {
  expect(describeJsonError(text)).toContain(place)
  expect(describeJsonError(text)).not.toContain('s3cret')
})

test('a port that is listened on is not free; a found one is', async () => {
  const port = await findFreePort()
  expect(port).toBeGreaterThanOrEqual(10_000)
  expect(await isPortFree(port)).toBe(true)
})

test('this process is itself, and no other with its number', () => {
  const me = processIdentity(process.pid)
  expect(me).toBeDefined()
  expect(isRunning(me ?? '')).toBe(true)
  expect(isRunning(`${process.pid}@0`)).toBe(false)
  expect(processIdentity(-1)).toBeUndefined()
})

describe('secrets in what is logged', () => {
  test.each([
    ['Authorization: Bearer abcdefghijkl', 'abcdefghijkl'],
    ['https://me:hunter2@host/x', 'hunter2'],
    ['GITHUB_TOKEN=ghp_0123456789abcdef', 'ghp_0123456789abcdef'],
    ['GET /cb?code=s3cr3tcode&x=1', 's3cr3tcode'],
  ])('%s', (text, secret) => {
    expect(redact(text)).not.toContain(secret)
  })

  test('members with telling names are hidden at any depth, others stay', () => {
    const value = { a: { apiKey: 'k1', list: [{ password: 'p' }] }, name: 'n', tokens: 5 }
    expect(redact(value)).toEqual({
      a: { apiKey: '[redacted]', list: [{ password: '[redacted]' }] },
      name: 'n',
      tokens: 5,
    })
  })
})

test('a typing mistake is recognised, another word is not', () => {
  expect(suggest('strat', ['start', 'stop'])).toBe('start')
  expect(suggest('completely', ['start', 'stop'])).toBeUndefined()
})
