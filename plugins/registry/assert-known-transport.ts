import { TRANSPORTS } from '../../src/contracts/run-config.ts'
import type { ResolveContext } from '../../src/contracts/target.ts'
import { clean } from '../../src/lib/printable.ts'
import { failures } from './failures.ts'
import type { ServerView } from './formats/legacy.ts'

/** Refuses an entry with an unknown transport, unless `--transport` replaces it. */
export function assertKnownTransport(
  name: string,
  { transport }: Pick<ServerView, 'transport'>,
  { options }: Pick<ResolveContext, 'options'>,
): void {
  const isKnown = transport === undefined || TRANSPORTS.some(known => known === transport)
  if (options.transport !== undefined || isKnown) return
  throw failures.entry_refused({
    server: clean(name),
    problems: [
      `transport ${JSON.stringify(transport.slice(0, 100))}: it is not one of ${TRANSPORTS.join(', ')}`,
    ],
  })
}
