import type { FastifyReply } from 'fastify'
import { printableJson } from '../lib/printable.ts'
import type { Operation } from './api.ts'

const HTML = 'text/html; charset=utf-8'
const LAST_WORDS_MS = 500

/**
 * Sends what an operation returned, as its `response` says. `ending` ends streams of events. Everything is
 * sent as bytes: to the type of a string a charset would be added, and clients compare it.
 */
export function sendResult(
  reply: FastifyReply,
  { response: [status, content], headers, location }: Operation,
  { value, ending }: { value: unknown; ending: AbortSignal },
): FastifyReply {
  reply.code(status).headers({ ...headers })
  if (location) reply.header('location', location(value as never))
  if (content === 'empty') return reply.send(Buffer.alloc(0))
  if (content === 'text') return reply.header('content-type', 'text/plain').send(Buffer.from(String(value)))
  if (content === 'html') return reply.header('content-type', HTML).send(Buffer.from(String(value)))
  if (content === 'events') {
    reply.header('cache-control', 'no-store')
    cutWhenEnding(reply, ending)
    return reply.header('content-type', 'text/event-stream').send(value)
  }
  return reply
    .header('content-type', 'application/json')
    .send(Buffer.from(`${printableJson(JSON.stringify(value))}\n`))
}

/** A reader that does not read to the end of the stream must not hold up the end of the server. */
function cutWhenEnding(reply: FastifyReply, ending: AbortSignal): void {
  const cut = () => setTimeout(() => reply.raw.destroy(), LAST_WORDS_MS)
  ending.addEventListener('abort', cut)
  reply.raw.once('close', () => ending.removeEventListener('abort', cut))
}
