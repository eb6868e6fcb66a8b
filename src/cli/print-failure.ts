import type { Writable } from 'node:stream'
import { styleText } from 'node:util'
import { Failure, messageOf } from '../errors.ts'
import { redact } from '../lib/redact.ts'

/** Prints an error for people and answers the exit code. Stacks only with `--debug`. */
export function printFailure(error: unknown, stderr: Writable, { debug }: { debug: boolean }): number {
  const label = styleText('red', 'Error:', { stream: stderr as NodeJS.WritableStream })
  stderr.write(`${label} ${redact(messageOf(error))}\n`)
  const expected = error instanceof Failure
  if (expected && error.hint) stderr.write(`${redact(error.hint)}\n`)
  if (!expected) stderr.write(`This is a defect in keelson${debug ? '' : '; --debug shows where'}.\n`)
  if (debug) for (const line of stackOf(error)) stderr.write(`${redact(line)}\n`)
  return expected ? error.exit : 1
}

function* stackOf(error: unknown): Generator<string> {
  for (let current = error; current instanceof Error; current = current.cause) {
    yield current.stack ?? current.message
  }
}
