import type { IncomingMessage } from 'node:http'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { redact } from '../../../src/lib/redact.ts'
import { clientAddressOf } from '../../proxy/index.ts'

/** What the HTTP request of an exchange says. Texts of strangers are cut, and what looks like a secret is hidden. */
export interface RequestFacts {
  readonly httpMethod: string
  readonly host: string
  readonly path: string
  /** Without the question mark; empty: none. */
  readonly query: string
  readonly userAgent: string | undefined
  /** In bytes. */
  readonly bodySize: number | undefined
  readonly clientAddress: string | undefined
  readonly clientPort: number | undefined
  readonly session: string | undefined
  readonly protocolVersion: string | undefined
  /** Of HTTP. */
  readonly httpVersion: string
}

const MOST_TEXT = 512

export const short = (text: string): string => {
  const shown = redact(text)
  return shown.length > MOST_TEXT ? `${shown.slice(0, MOST_TEXT)}…` : shown
}

const header = ({ headers }: IncomingMessage, name: string): string | undefined => {
  const value = headers[name]?.toString()
  return value === undefined ? undefined : short(value)
}

export function requestFactsOf({ request, url, buffered }: Exchange, config: RunConfig): RequestFacts {
  const at = url.indexOf('?')
  const announced = request.headers['content-length']
  return {
    httpMethod: request.method ?? '',
    host: header(request, 'host') ?? '',
    path: short(at < 0 ? url : url.slice(0, at)),
    // With its question mark a parameter is recognised that is a secret.
    query: at < 0 ? '' : short(url.slice(at)).slice(1),
    userAgent: header(request, 'user-agent'),
    bodySize: buffered?.length ?? (announced === undefined ? undefined : Number(announced)),
    clientAddress: clientAddressOf(request, config),
    clientPort: request.socket.remotePort,
    session: header(request, 'mcp-session-id'),
    protocolVersion: header(request, 'mcp-protocol-version'),
    httpVersion: request.httpVersion,
  }
}
