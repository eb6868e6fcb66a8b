import { createInterface } from 'node:readline'
import type { InstanceEvent } from '../../src/contracts/runtime.ts'
import { LABEL } from '../../src/lib/labels.ts'
import type { Dialect } from './dialect.ts'
import type { EngineCli } from './engine-cli.ts'

/**
 * Events of one owner's instances, from the moment of the call. Ends with `gone` when the engine, or
 * the program that listens to it, goes away; ends silently when the signal aborts.
 */
export async function* watchInstances(options: {
  dialect: Dialect
  cli: EngineCli
  owner: string
  signal: AbortSignal
  since: Date
}): AsyncGenerator<InstanceEvent> {
  const { dialect, cli, owner, signal, since } = options
  if (signal.aborted) return
  // Podman treats several label filters as alternatives, so only the owner's is passed.
  const args = [
    'events',
    '--format={{json .}}',
    '--filter=type=container',
    `--filter=label=${LABEL.owner}=${owner}`,
    // Events before the engine registered this watcher are sent afterwards.
    `--since=${since.toISOString()}`,
  ]
  const call = cli.open(args)
  call.stdin.end()
  call.stderr.resume()
  signal.addEventListener('abort', call.kill, { once: true })
  try {
    for await (const line of createInterface({ input: call.stdout })) {
      const event = dialect.readEvent(parse(line))
      if (event?.labels[LABEL.managed] === 'true') {
        const { labels: _, ...rest } = event
        yield rest
      }
      if (signal.aborted) return
    }
    if (!signal.aborted) yield { kind: 'gone' }
  } finally {
    signal.removeEventListener('abort', call.kill)
    call.kill()
  }
}

/** A line that is not JSON comes from the program and not from the engine. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
