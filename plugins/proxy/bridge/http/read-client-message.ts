import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { type Message, readMessage } from '../../../../src/net/rpc-message.ts'

/** The message in the body of a request; undefined when there is not exactly one. Repeated members are refused. */
export async function readClientMessage(exchange: Exchange): Promise<Message | undefined> {
  const text = await exchange.rawText()
  return text === undefined ? undefined : readMessage(text)
}
