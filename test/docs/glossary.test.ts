import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/glossary.md', 'utf8')
const terms = [...page.matchAll(/^\| ([a-z][a-zA-Z ]*) \|/gm)].map(([, term = '']) => term)

const singular = (word: string) => {
  if (word.startsWith('status')) return 'status'
  if (/ss$/.test(word)) return word
  return word
    .replace(/statuses$/, 'status')
    .replace(/ies$/, 'y')
    .replace(/s$/, '')
}
const wordsOf = (name: string) =>
  name
    .replaceAll('_', ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(' ')

/** Plain English and protocol names, which need no definition. */
const PLAIN = new Set(
  [
    'access ask assert auth codec config context environment event exit file hidden install is kept listener',
    'log mode name npm oci offer option order parse record refused request resolve resolved schema second stop store',
    'supervised to unenforced version wait with',
    ...terms,
  ].flatMap(text => text.split(' ').map(singular)),
)

const namesIn = (files: string[], pattern: RegExp): string[] =>
  files.flatMap(file => [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, name = '']) => name))

/** The names inside the braces that follow, wherever an interface of this name is declared. */
const membersOf = (name: string) =>
  globSync(['src/**/*.ts', 'plugins/**/*.ts'])
    .flatMap(file => [
      ...readFileSync(file, 'utf8').matchAll(new RegExp(`interface ${name} \\{([^}]*)\\}`, 'g')),
    ])
    .flatMap(([, body = '']) =>
      [...body.matchAll(/^\s+(?:readonly )?(\w+)\??:/gm)].map(([, word = '']) => word),
    )

const exported = namesIn(
  globSync('src/contracts/*.ts'),
  /^export (?:interface|type|const|(?:async )?function|class) (\w+)/gm,
)

test.each([
  ['names that src/contracts exports', exported, 60],
  ['services', membersOf('Services'), 20],
  ['contributions', membersOf('Contributions'), 6],
])('%s are made of terms of the glossary', (_, names, atLeast) => {
  expect(names.length).toBeGreaterThanOrEqual(atLeast)
  const unknown = names.filter(name => wordsOf(name).some(word => !PLAIN.has(singular(word))))
  expect(unknown.map(name => [name, wordsOf(name).filter(word => !PLAIN.has(singular(word)))])).toEqual([])
})

test('the glossary defines each term once', () => {
  expect(terms.length).toBeGreaterThan(50)
  expect(terms.filter((term, i) => terms.indexOf(term) !== i)).toEqual([])
})
