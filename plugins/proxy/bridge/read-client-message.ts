import { isUtf8 } from 'node:buffer'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { type Message, readMessage } from '../message.ts'
import { assertNoRepeatedMember } from '../repeated-member.ts'

/** The message in the body of a request; undefined when there is not exactly one. Repeated members are refused. */
export async function readClientMessage(exchange: Exchange): Promise<Message | undefined> {
  const body = await exchange.body()
  if (!isUtf8(body)) return undefined
  const text = body.toString('latin1')
  assertNoRepeatedMember(text)
  return readMessage(text)
}
