import { type FlagValues, flag } from '../../src/cli/flags.ts'
import { failures } from '../../src/errors.ts'

/** Flags of every command that connects to an MCP server. */
export const serverFlags = {
  server: flag.string('server to connect to: a URL, or the name of a workload; required', {
    placeholder: 'URL|NAME',
    completes: 'workloads',
  }),
  format: flag.choice('output format', ['text', 'json'], 'text'),
  timeout: flag.duration('how long to wait for the server', '30s'),
  transport: flag.choice(
    'transport of the server (auto: streamable-http, else sse)',
    ['auto', 'sse', 'streamable-http'],
    'auto',
  ),
}

const LONGEST_MS = 2 ** 31 - 1 // what a timer can hold

/** The server and the time limit that the flags name. Fails with `usage`. */
export function readServerFlags({ server, timeout, transport }: FlagValues<typeof serverFlags>) {
  if (!server)
    throw failures.usage({ text: '--server is missing.', hint: 'Give it a URL or the name of a workload.' })
  const timeoutMs = Math.min(Math.ceil(timeout ?? 0), LONGEST_MS)
  if (timeoutMs <= 0) throw failures.usage({ text: '--timeout must be more than 0.' })
  return { server, transport, timeoutMs }
}
