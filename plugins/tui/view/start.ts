import type { Readable, Writable } from 'node:stream'
import { render } from 'ink'
import { createElement as h } from 'react'
import type { Workbench } from '../workbench.ts'
import { Screen } from './screen.ts'

/** Fills the terminal with the view until the user ends it, or the signal aborts. */
export async function showWorkbench(
  bench: Workbench,
  { stdin, stdout, signal }: { stdin: Readable; stdout: Writable; signal: AbortSignal },
): Promise<void> {
  const app = render(h(Screen, { bench, write: text => void stdout.write(text) }), {
    stdin: stdin as NodeJS.ReadStream,
    stdout: stdout as NodeJS.WriteStream,
    alternateScreen: true,
    // A terminal of a build system is a terminal as well.
    interactive: true,
    patchConsole: false,
  })
  const end = () => app.unmount()
  signal.addEventListener('abort', end, { once: true })
  try {
    await app.waitUntilExit()
  } finally {
    signal.removeEventListener('abort', end)
  }
}
