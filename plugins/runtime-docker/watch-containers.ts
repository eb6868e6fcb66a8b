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
  const label = `${LABEL.owner}=${owner}`
  const args = [
    'events',
    '--format={{json .}}',
    '--filter=type=container',
    `--filter=label=${label}`,
    // Events before the engine registered this watcher are sent afterwards.
    `--since=${since.toISOString()}`,
  ]
  const filters = encodeURIComponent(JSON.stringify({ type: ['container'], label: [label] }))
  const seconds = (since.getTime() / 1000).toFixed(3)
  const path = `/events?since=${seconds}&filters=${filters}`
  const { output, end } = await cli.listen(args, { method: 'GET', path })
  if (signal.aborted) return end()
  signal.addEventListener('abort', end, { once: true })
  try {
    for await (const line of createInterface({ input: output })) {
      const event = dialect.readEvent(parse(line))
      if (event?.labels[LABEL.managed] === 'true') {
        const { labels: _, ...rest } = event
        yield rest
      }
      if (signal.aborted) return
    }
    if (!signal.aborted) yield { kind: 'gone' }
  } finally {
    signal.removeEventListener('abort', end)
    end()
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
