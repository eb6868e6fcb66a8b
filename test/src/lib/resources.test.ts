import { expect, test } from 'vitest'
import { parseCpus, parseMemory } from '../../../src/lib/resources.ts'

test.each([
  ['1024', 1024],
  ['1k', 1024],
  ['1.5g', 1_610_612_736],
  ['512Mi', 536_870_912],
  ['1GB', 1_073_741_824],
])('%s is %d bytes', (text, bytes) => expect(parseMemory(text)).toBe(bytes))

test.each(['', '0', '-1', 'lots', '1z', '0.0001'])('"%s" is not an amount of memory', text => {
  expect(parseMemory(text)).toBeUndefined()
})
test.each(['', '0', '-1', 'two', '1e3'])('"%s" is not a number of cores', text => {
  expect(parseCpus(text)).toBeUndefined()
})
