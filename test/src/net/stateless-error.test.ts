import { expect, test } from 'vitest'
import { isStatelessError } from '../../../src/net/stateless-error.ts'

test.each([
  [{ code: -32020 }, true],
  [{ code: -32022 }, true],
  [{ code: -32022, data: 'no list' }, true],
  [{ code: -32022, data: { supported: ['2025-11-25', '2026-07-28'] } }, true],
  [{ code: -32022, data: { supported: ['2027-01-01'] } }, true],
  [{ code: -32022, data: { supported: ['2025-11-25', '2024-11-05'] } }, false],
  [{ code: -32022, data: { supported: [] } }, false],
  [{ code: -32601 }, false],
  [{}, false],
])('%j is the error of a server of 2026-07-28: %s', (error, expected) => {
  expect(isStatelessError(error)).toBe(expected)
})
