import { expect, test } from 'vitest'
import { failures } from '../../../plugins/supervisor/failures.ts'
import { redact } from '../../../src/lib/redact.ts'

const hintOf = (line: string, missing: readonly string[] = []) =>
  redact(
    failures.instance_ended({
      name: 'a',
      how: 'exit code 1',
      lines: [line],
      missing,
      mayBeStdio: false,
    }).hint,
  )

// Lines of servers that were tried.
test.each([
  'Please provide a database URL as a command-line argument',
  'Usage: mcp-server-filesystem [allowed-directory] [additional-directories...]',
  '  @sentry/mcp-server --access-token=TOKEN',
])('a server that ends with "%s" is said to take arguments after --', line => {
  expect(hintOf(line)).toContain('keelson run … -- ARGUMENT')
})

test('a server that ends for another reason gets no advice', () => {
  expect(hintOf('TypeError: x is not a function')).toBeUndefined()
})

test('the flag for a missing token is shown whole', () => {
  expect(hintOf('Please set SLACK_TOKEN', ['SLACK_TOKEN'])).toContain('`-e SLACK_TOKEN=VALUE`')
})
