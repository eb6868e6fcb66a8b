import { expect, test } from 'vitest'
import { unavailable } from '../../../plugins/runtime-process/packages/python.ts'

const IGNORED =
  'ERROR: Ignored the following versions that require a different python version: 0.2.0 Requires-Python >=3.13; 0.3.0 Requires-Python >=3.12,<4'
const none = (wanted: string) => `ERROR: No matching distribution found for ${wanted}`

test.each([
  [`${IGNORED}\n${none('old==0.3.0')}`, 'it needs Python >=3.12,<4, which this machine does not have.'],
  [`${IGNORED}\n${none('old==0.9.0')}`, 'there is no such version, or no wheel of it for this machine.'],
  [none('libx>=2 (from old)'), 'the package index has no wheel of libx>=2 for this machine.'],
  ['ERROR: something else', undefined],
])('pip that finds nothing to install is explained: %s', (stderr, problem) => {
  const wanted = /old==[\d.]+/.exec(stderr)?.[0] ?? 'old==0.3.0'
  expect(unavailable(wanted, stderr)).toBe(problem)
})
