import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { collectFailures, errorReference } from '../../scripts/docs/error-reference.ts'

const page = readFileSync('docs/errors.md', 'utf8')
const documented = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code)

test('failures are found in the core and in the plugins', async () => {
  const owners = new Set((await collectFailures()).map(({ owner }) => owner))

  expect([...owners]).toEqual(expect.arrayContaining(['core', 'mcp', 'plugin-manager']))
})

test('every code is in docs/errors.md (npm run docs)', async () => {
  const missing = (await collectFailures()).map(({ code }) => code).filter(code => !documented.includes(code))

  expect(missing).toEqual([])
})

test('docs/errors.md has no code that does not exist (npm run docs)', async () => {
  const codes = (await collectFailures()).map(({ code }) => code)

  expect(documented.filter(code => !codes.includes(code ?? ''))).toEqual([])
})

test('no two failures share a code', async () => {
  const codes = (await collectFailures()).map(({ code }) => code)

  expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([])
})

test('docs/errors.md says what the program says (npm run docs)', async () => {
  expect(page).toBe(errorReference(await collectFailures()))
})

test('every failure says something, and is an HTTP error', async () => {
  for (const { code, row } of await collectFailures()) {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(row.status, code).toBeGreaterThanOrEqual(400)
    expect(row.status, code).toBeLessThan(600)
  }
  expect(page).not.toMatch(/undefined|\[object/)
})
