import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { ownerOf } from '../../session-owner.ts'
import type { MessageRouter } from '../message-router.ts'
import { createHeldReply } from './held-reply.ts'
import { accepts, takesPriming, wantsStream } from './mcp-headers.ts'
import { modernStatus } from './modern-status.ts'
import {
  createJsonReply,
  createStreamReply,
  type PostReply,
  type ReplyOptions,
} from './streamable-replies.ts'

/** The reply to a POST in the form that its client takes. One that takes both gets whichever fits the call. */
export function createPostReply(
  { limits, flow, now }: Pick<MessageRouter, 'limits' | 'flow' | 'now'>,
  exchange: Exchange,
  call: Pick<ReplyOptions, 'idText' | 'session' | 'onGone'> & { isModern: boolean },
): PostReply {
  const { request, response } = exchange
  const statusOf = call.isModern ? modernStatus : sessionStatus
  const flowOf = () => flow.of(ownerOf(exchange) ?? exchange)
  const options = { ...call, response, statusOf, prime: takesPriming(request), flowOf, now }
  if (!wantsStream(request)) return createJsonReply(options)
  if (!accepts(request, 'application/json')) return createStreamReply(options)
  return createHeldReply({ ...options, holdMs: limits.holdHeadMs })
}

/** Before 2026-07-28 an error of the server is no error of HTTP. */
const sessionStatus = (): number => 200
