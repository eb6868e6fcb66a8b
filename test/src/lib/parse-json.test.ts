import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from '../../../src/lib/parse-json.ts'

const NAMES = [
  'name',
  'na\\u',
  'arguments',
  'ar\\u0067u',
  'a',
  '\\',
  '"',
  '\n',
  'é',
  '1',
  '__proto__',
  'constructor',
]
const name = fc.constantFrom(...NAMES)

/** A string of JSON with some characters written as escapes. */
const written = (text: string, bits: number): string =>
  `"${[...text]
    .map((character, i) => {
      const isEscaped = (bits >> i) & 1 || '"\\\n'.includes(character)
      return isEscaped ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : character
    })
    .join('')}"`

const members = fc.uniqueArray(fc.tuple(name, fc.nat(), name, fc.nat()), {
  selector: ([key]) => key,
  maxLength: 4,
})

test('members have the names that are written, whatever was read before', () => {
  fc.assert(
    fc.property(fc.array(members, { minLength: 1, maxLength: 4 }), objects => {
      const text = `[${objects
        .map(
          one =>
            `{${one.map(([key, a, value, b]) => `${written(key, a)} : ${written(value, b)}`).join(',')}}`,
        )
        .join(',')}]`
      const read = parseJson(text) as object[]
      expect(read.map(one => new Map(Object.entries(one)))).toEqual(
        objects.map(one => new Map(one.map(([key, , value]) => [key, value]))),
      )
    }),
    { numRuns: 3000 },
  )
})

test('of a name that stands twice the last counts, however it is written', () => {
  expect(parseJson('{"a\\n":1,"a\\u000a":2}')).toEqual({ 'a\n': 2 })
  expect(parseJson('[{"x":{"\\u0061":[{"\\u0062":1}]}}]')).toEqual([{ x: { a: [{ b: 1 }] } }])
})

test.each([
  '{"a\\n":1,}',
  '{"\\x":1}',
  '{"a\\u00":1}',
  '{"a\n\\n":1}',
  '"\\"',
  '{"\\"":1',
  '["a\\"":1]',
  '{"a\\n" 1}',
  '',
])('%j is refused', text => {
  expect(() => parseJson(text)).toThrow(SyntaxError)
})

test('more escaped names than anybody needs are refused', () => {
  const object = (count: number) =>
    `{${Array.from({ length: count }, (_, i) => `"\\u0061${i}":1`).join(',')}}`
  expect(Object.keys(parseJson(object(10_000)) as object)).toHaveLength(10_000)
  expect(() => parseJson(object(10_001))).toThrow(SyntaxError)
})
