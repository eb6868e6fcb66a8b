import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { toRaw } from '../../../src/lib/raw-json.ts'
import { openStreamableLink } from '../legacy-http/streamable-link.ts'
import { META_2026 } from '../revisions/index.ts'
import { openStatelessLink } from '../stateless-http/stateless-link.ts'
import { createSendForCaller, type SendForClient } from '../translated-http/send-for-caller.ts'
import type { TranslationOptions } from '../translated-http/translation-options.ts'
import type { Era } from './find-era.ts'
import type { ServerOfClient } from './older-client.ts'

/** The server of a client, by its era. */
export const SERVERS: Readonly<
  Record<Era, (options: TranslationOptions & { maxBytes: number; url: string }) => ServerOfClient>
> = {
  stateless: options => ({
    attach: (latest, onLoginWanted) =>
      openStatelessLink({ ...options, send: sendFor(latest, options), onLoginWanted }),
    tryCredentials: router => router.ask('server/discover', toRaw(JSON.stringify(META_2026))),
  }),
  legacy: options => ({
    attach: (latest, onLoginWanted) =>
      openStreamableLink({
        ...options,
        send: sendFor(latest, options),
        // The client has one stream for all its calls.
        hasHints: false,
        onLoginWanted: wanted => void onLoginWanted(wanted),
      }),
    tryCredentials: router => router.ask('ping', '{}'),
  }),
}

/**
 * Sends with the credentials of the latest exchange, to the URL with which the client began. The target is the server that
 * is connected now, so that calls end there when another server replaces it.
 */
function sendFor(
  latest: () => Exchange,
  { url, ...options }: TranslationOptions & { url: string },
): SendForClient {
  const target = options.target()
  const send = createSendForCaller({ ...options, target: () => target })
  return request => send(latest(), { ...request, url })
}
