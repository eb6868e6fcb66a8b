import { expect, test } from 'vitest'
import {
  anything,
  bool,
  list,
  map,
  object,
  oneOf,
  optional,
  port,
  type TypeOf,
  text,
} from '../../src/lib/schema.ts'
import { findErrors } from '../../src/schema-check.ts'

const sample = object({
  name: text,
  ports: optional(list(port)),
  mode: optional(oneOf(['fast', 'slow'])),
  labels: optional(map(text)),
  closed: optional(object({ on: bool }, { additionalProperties: false })),
  rest: anything,
})

test('the type of a schema has its optional members', () => {
  const value: TypeOf<typeof sample> = { name: 'a', rest: 1 }
  value.mode = 'fast'
  // @ts-expect-error: not one of the choices
  value.mode = 'other'
  // @ts-expect-error: `on` is missing
  value.closed = {}
  expect(findErrors(sample, value)).toMatch(/^mode: .*; closed\.on: /s)
})

test('a schema is JSON Schema', () => {
  expect(JSON.parse(JSON.stringify(sample))).toEqual({
    type: 'object',
    required: ['name', 'rest'],
    properties: {
      name: { type: 'string' },
      ports: { type: 'array', items: { type: 'integer', minimum: 0, maximum: 65535 } },
      mode: { enum: ['fast', 'slow'] },
      labels: { type: 'object', patternProperties: { '^.*$': { type: 'string' } } },
      closed: {
        type: 'object',
        required: ['on'],
        properties: { on: { type: 'boolean' } },
        additionalProperties: false,
      },
      rest: {},
    },
  })
})

test.each([
  [{ name: 'a', rest: null, other: 1 }, undefined],
  [{ name: 'a', ports: [0, 65535], mode: 'slow', labels: { a: 'b' }, closed: { on: true } }, undefined],
  [{}, 'name: Expected a string (got undefined)'],
  [{ name: 5 }, 'name: Expected a string (got 5)'],
  [{ name: 'a', ports: [1, 65536] }, 'ports[1]: Expected to be in the [0; 65535] range (got 65536)'],
  [{ name: 'a', ports: [1.5] }, 'ports[0]: Expected to be an integer (got 1.5)'],
  [{ name: 'a', mode: 'x' }, 'mode: Expected one of "fast" or "slow" (got "x")'],
  [{ name: 'a', labels: { b: 1 } }, 'labels.b: Expected a string (got 1)'],
  [{ name: 'a', closed: { on: true, off: 1 } }, 'closed.off: Extraneous property (got 1)'],
  ['x', 'Expected an object (got "x")'],
])('%j: %s', (value, problem) => {
  expect(findErrors(sample, value)).toBe(problem)
})
