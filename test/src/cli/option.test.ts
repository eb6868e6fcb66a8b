import { expect, test } from 'vitest'
import { fillArguments, Option } from '../../../src/cli/option.ts'

class Copy {
  from = Option.String()
  to = Option.String({ required: false })
}
class Stop {
  first = Option.String()
  names = Option.Rest()
}
class Register {
  names = Option.Rest({ required: 1 })
}

test.each([
  [new Copy(), ['a'], { from: 'a', to: undefined }],
  [new Copy(), ['a', 'b'], { from: 'a', to: 'b' }],
  [new Stop(), ['a'], { first: 'a', names: [] }],
  [new Stop(), ['a', 'b', 'c'], { first: 'a', names: ['b', 'c'] }],
  [new Register(), ['a'], { names: ['a'] }],
  [new Copy(), [''], { from: '', to: undefined }],
])('%o takes the arguments %j', (command, words, fields) => {
  expect(fillArguments(command, words)).toBe(true)
  expect({ ...command }).toEqual(fields)
})

test.each([
  [new Copy(), []],
  [new Copy(), ['a', 'b', 'c']],
  [new Register(), []],
  [{ other: 'field' }, ['a']],
])('%o refuses the arguments %j', (command, words) => {
  expect(fillArguments(command, words)).toBe(false)
})
