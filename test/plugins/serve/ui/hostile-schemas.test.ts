import { expect, test } from 'vitest'
import { checkArguments } from '../../../../plugins/serve/ui/page/check-arguments.ts'
import { shapeOf } from '../../../../plugins/serve/ui/page/shape.ts'

const text = `${'a'.repeat(40)}!`

test.each([
  ['a pattern that backtracks', { properties: { a: { type: 'string', pattern: '^(a+)+$' } } }, { a: text }],
  ['a pattern for names', { patternProperties: { '^(a+)+$': {} } }, { [text]: 1 }],
  ['a format that backtracks', { properties: { a: { format: 'url' } } }, { a: `http://${text}` }],
])('%s is left to the server', (_, schema, value) => {
  expect(checkArguments(schema, value)).toEqual(new Map())
})

test('references that multiply end, and so does a schema that refers to itself', () => {
  const levels = Array.from({ length: 30 }, (_, level) => [
    `l${level}`,
    { allOf: [{ $ref: `#/$defs/l${level + 1}` }, { $ref: `#/$defs/l${level + 1}` }] },
  ])
  const doubling = { $ref: '#/$defs/l0', $defs: { ...Object.fromEntries(levels), l30: { type: 'object' } } }
  expect(checkArguments(doubling, 1)).toEqual(new Map())

  const names = Array.from({ length: 200 }, (_, number) => `p${number}`)
  const itself = { type: 'object', properties: Object.fromEntries(names.map(name => [name, { $ref: '#' }])) }
  expect(JSON.stringify(shapeOf(itself)).length).toBeLessThan(1_000_000)
  expect(checkArguments(itself, { p0: { p1: 1 } }).size).toBeLessThan(2)
})

test('what is left of a schema is checked: references, data that looks like keywords, names that do', () => {
  const schema = {
    type: 'object',
    $defs: {
      port: { type: 'integer', maximum: 9 },
      ports: { type: 'array', items: { $ref: '#/$defs/port' } },
    },
    properties: {
      ports: { $ref: '#/$defs/ports' },
      pattern: { type: 'string' },
      mode: { enum: [{ pattern: 'x' }] },
      closed: { type: 'object', additionalProperties: false, patternProperties: { '^x-': {} } },
    },
    additionalProperties: false,
  }
  const right = { ports: [1], pattern: 'x', mode: { pattern: 'x' }, closed: { 'x-a': 1 } }

  expect(checkArguments(schema, right)).toEqual(new Map())
  const found = checkArguments(schema, { ports: [10], pattern: 1, more: 1 })
  for (const place of ['/ports/0', '/pattern', '/more']) expect(found.has(place), place).toBe(true)
})
