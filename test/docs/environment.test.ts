import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/environment.md', 'utf8')
const code = globSync(['src/**/*.ts', 'plugins/**/*.{ts,tsx,js}']).map(file => readFileSync(file, 'utf8'))

/** `KEELSON_SECRET_<NAME>` is built from its beginning. */
const spelled = (name: string) => (name.endsWith('_') ? `${name}<NAME>` : name)

const inCode = new Set(
  code.flatMap(text => text.match(/\bKEELSON_[A-Z_]*[A-Z](?:_(?=[<$]))?/g) ?? []).map(spelled),
)
const onPage = new Set(page.match(/KEELSON_[A-Z_<>]*[A-Z>]/g))

test('the code reads variables of ours', () => {
  expect(inCode.size).toBeGreaterThan(10)
})

test('docs/environment.md names every variable that the code does', () => {
  const own = [...inCode].filter(name => name !== 'KEELSON_SECRET')
  expect(own.filter(name => !onPage.has(name))).toEqual([])
})

test('docs/environment.md names no variable that the code does not', () => {
  expect([...onPage].filter(name => !inCode.has(name))).toEqual([])
})
