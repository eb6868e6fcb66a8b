import { expect, test } from 'vitest'
import { mirrorProblem } from '../../../src/net/mirror-problem.ts'

const header = (name: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': name })
const withProperties = (properties: object) => ({ type: 'object', properties })

test.each([
  ['no annotation', withProperties({ a: { type: 'string' } })],
  [
    'all three types',
    withProperties({ a: header('A'), b: header('B', 'integer'), c: header('C', 'boolean') }),
  ],
  ['nested properties', withProperties({ a: withProperties({ b: header('A') }) })],
  ['the name of a standard header', withProperties({ a: header('Method') })],
  ['a property of that name', withProperties({ 'x-mcp-header': { type: 'string' } })],
  ['no schema', undefined],
])('%s is valid', (_, schema) => {
  expect(mirrorProblem(schema)).toBeUndefined()
})

test.each([
  ['no name', withProperties({ a: header('') }), 'name of a header'],
  ['a name that is no text', withProperties({ a: header(1) }), 'name of a header'],
  ['a name with a space', withProperties({ a: header('My Region') }), 'name of a header'],
  ['a name with a line break', withProperties({ a: header('A\r\nX: 1') }), 'name of a header'],
  ['a name beyond ASCII', withProperties({ a: header('Région') }), 'name of a header'],
  ['a number', withProperties({ a: header('A', 'number') }), 'not a string'],
  ['an object', withProperties({ a: header('A', 'object') }), 'not a string'],
  ['two types', withProperties({ a: header('A', ['string', 'null']) }), 'not a string'],
  ['one name twice', withProperties({ a: header('A'), b: header('a') }), 'another argument'],
  ['the schema itself', { ...withProperties({}), 'x-mcp-header': 'A' }, 'not belong to a property'],
  ['items', withProperties({ a: { items: header('A') } }), 'not belong to a property'],
  ['oneOf', { oneOf: [withProperties({ a: header('A') })] }, 'not belong to a property'],
  ['$defs', { $defs: { a: withProperties({ a: header('A') }) } }, 'not belong to a property'],
])('%s is not valid', (_, schema, problem) => {
  expect(mirrorProblem(schema)).toContain(problem)
})

test('a tool with very many schemas is left out, whatever they say', () => {
  const schema = { ...withProperties({ a: header('A') }), items: Array.from({ length: 10_000 }, () => ({})) }
  expect(mirrorProblem(schema)).toContain('more than 10000 schemas')
})

test('a schema that is nested without end is not followed for ever', () => {
  let schema: object = header('')
  for (let depth = 0; depth < 10_000; depth++) schema = { not: schema }
  expect(mirrorProblem(schema)).toBeUndefined()
})
