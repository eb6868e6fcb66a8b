import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { embedFiles } from '../../scripts/docs/embed-files.ts'
import { API_VERSION } from '../../src/api-version.ts'
import { manifestSchema } from '../../src/third-party.ts'

const page = readFileSync('docs/plugins.md', 'utf8')

test('docs/plugins.md shows the sample plugin as it is (npm run docs)', () => {
  expect(page).toContain('<!-- file: fixtures/sample-plugin/index.js -->')
  expect(page).toBe(embedFiles(page))
})

test('docs/plugins.md speaks of the API version that this program offers', () => {
  expect(page).toContain(`This is version **${API_VERSION}**`)
})

test('docs/plugins.md names every member of the manifest', () => {
  const errors: string[] = []
  const wrong = { apiVersion: '', entry: 0, verbs: 0, services: 0, provides: 0, permissions: 0 }
  expect(manifestSchema(wrong, { errors })).toBe(false)
  const members = errors.map(line => /^\.(\w+)/.exec(line)?.[1])
  expect(members.length).toBe(Object.keys(wrong).length)
  for (const member of members) expect(page).toContain(`| \`${member}\` |`)
})
