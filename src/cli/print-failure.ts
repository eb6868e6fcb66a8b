import type { Writable } from 'node:stream'
import { styleText } from 'node:util'
import { Failure, messageOf } from '../errors.ts'
import { printable } from '../lib/printable.ts'
import { redact } from '../lib/redact.ts'
import { fold } from './fold.ts'
import { widthOf } from './output.ts'

/** Prints an error for people and returns the exit code. Stacks only with `--debug`. */
export function printFailure(error: unknown, stderr: Writable, { debug }: { debug: boolean }): number {
  const label = styleText('red', 'Error:', { stream: stderr as NodeJS.WritableStream })
  const write = (text: string) => stderr.write(`${fold(text, { width: widthOf(stderr) })}\n`)
  write(`${label} ${show(messageOf(error))}`)
  const expected = error instanceof Failure
  if (expected && error.hint) write(show(error.hint))
  if (!expected) stderr.write(`This is a defect in keelson${debug ? '' : '; --debug shows where'}.\n`)
  if (debug) for (const line of stackOf(error)) stderr.write(`${show(line)}\n`)
  return expected ? error.exit : 1
}

/** Much of what failures say comes from servers, registries and engines. */
const show = (text: string): string => printable(redact(text))

function* stackOf(error: unknown): Generator<string> {
  for (let current = error; current instanceof Error; current = current.cause) {
    yield current.stack ?? current.message
  }
}
