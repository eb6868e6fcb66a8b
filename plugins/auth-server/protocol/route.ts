import type { IncomingMessage } from 'node:http'
import type { Reply } from './reply.ts'

export type Respond = (request: IncomingMessage, signal: AbortSignal) => Promise<Reply>

/** The responses of one path by method. */
export type Route = Readonly<Record<string, Respond>>
