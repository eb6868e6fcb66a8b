import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Schema, TypeOf } from '../lib/schema.ts'
import type { Operation } from './api.ts'
import { withOperationDeadline } from './operation-deadline.ts'
import { sendResult } from './send-result.ts'

/** Runs operations for requests, and knows how many run. */
export interface OperationRunner {
  /** Runs an operation and sends its result; throws what the operation throws. */
  respond(operation: Operation, request: FastifyRequest, reply: FastifyReply): Promise<unknown>
  running(): number
}

/** `ending` aborts what would never end by itself. */
export function createOperationRunner(ending: AbortSignal): OperationRunner {
  let running = 0
  return {
    async respond(operation, request, reply) {
      const endless = operation.response[1] === 'events'
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      running++
      try {
        const work = (signal: AbortSignal) =>
          operation.handle({
            params: request.params as never,
            query: firstOfEach(request.query),
            body: request.body as TypeOf<Schema>,
            host: request.raw.headers.host,
            signal: AbortSignal.any([signal, gone.signal, ...(endless ? [ending] : [])]),
          })
        const value = endless ? await work(gone.signal) : await withOperationDeadline(work, operation)
        return sendResult(reply, operation, { value, ending })
      } finally {
        running--
      }
    },
    running: () => running,
  }
}

/** The parameters of a query; of one that stands there several times the first value. */
export const firstOfEach = (query: unknown): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries((query ?? {}) as Record<string, string | string[]>).map(([key, value]) => [
      key,
      Array.isArray(value) ? value[0] : value,
    ]),
  )
