import { type ClientMetadata, metadataOf, readClientMetadata } from '../../eras/client-metadata.ts'
import { toInitializeResult } from '../../eras/initialize-result.ts'
import type { Refusal } from '../../request-refusal.ts'
import type { HeldListen } from '../older-clients/held-listen.ts'
import type { Answer, AskServer } from '../server/ask-server.ts'
import type { Handshake } from '../server/handshake.ts'
import type { ServerEras } from '../server/server-eras.ts'

/** What a client gets for its `initialize`. */
export interface Initialized {
  readonly answer: Answer
  /** For the metadata of its requests; undefined where the server itself has `initialize`. */
  readonly metadata: ClientMetadata | undefined
}

/**
 * Makes the function that responds to the `initialize` of a client, whose parameters it takes: with what the server
 * says, or with what a server without `initialize` says to `server/discover`.
 *
 * @param options.name of the workload, for a server that does not say who it is
 * @param options.challenge the refusal of a server that wants other credentials; it is thrown
 */
export function createInitializeClient(options: {
  name: string
  eras: ServerEras
  handshake: Handshake
  held: HeldListen
  ask: AskServer
  challenge?: (() => Refusal | undefined) | undefined
}): (paramsText: string) => Promise<Initialized> {
  const { name, eras, handshake, held, ask, challenge } = options
  const isStateless = () => eras.legacy === false
  return async paramsText => {
    if (!isStateless()) {
      const answer = await handshake.initialize(paramsText)
      if (!isStateless()) return { answer, metadata: undefined }
    }
    const metadata = readClientMetadata(paramsText)
    const answer = await ask('server/discover', `{"_meta":${metadataOf(metadata)}}`)
    const refusal = answer.kind === 'error' ? challenge?.() : undefined
    if (refusal) throw refusal
    if (answer.kind !== 'result') return { answer, metadata: undefined }
    const text = toInitializeResult(answer.text, { paramsText, name })
    held.offered(text)
    return { answer: { ...answer, text }, metadata }
  }
}
