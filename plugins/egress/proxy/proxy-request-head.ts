import type { IncomingMessage } from 'node:http'
import { type Authority, parseAuthority } from '../parse-host.ts'

/** The destination of a request; `path` is undefined for CONNECT. */
export interface Head {
  readonly target: Authority
  readonly path: string | undefined
}

/** Why a request is not forwarded: it is ambiguous, or not a request for a proxy. */
export interface Rejection {
  readonly status: number
  readonly problem: string
}

const bad = (problem: string, status = 400): Rejection => ({ status, problem })

export const isRejection = (value: Head | Rejection): value is Rejection => 'problem' in value

/** Reads the target of a request and checks its framing (RFC 9112 sections 3, 6 and 11). */
export function readHead(request: IncomingMessage): Head | Rejection {
  return (
    checkFraming(request) ?? (request.method === 'CONNECT' ? readConnect(request) : readAbsolute(request))
  )
}

/** What node's parser (strict by default: no bare LF, no folded lines) still lets pass. */
function checkFraming(request: IncomingMessage): Rejection | undefined {
  const counts = new Map<string, number>()
  const { rawHeaders } = request
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  for (const name of ['host', 'content-length', 'transfer-encoding']) {
    if ((counts.get(name) ?? 0) > 1) return bad(`it has more than one ${name} header`)
  }
  const coding = request.headers['transfer-encoding']
  const length = request.headers['content-length']
  if (coding !== undefined) {
    if (length !== undefined) return bad('it has both content-length and transfer-encoding')
    if (coding.toLowerCase() !== 'chunked') return bad('its transfer-encoding is not chunked')
    if (request.httpVersion === '1.0') return bad('HTTP/1.0 has no transfer-encoding')
  }
  if (length !== undefined && !/^\d+$/.test(length)) return bad('its content-length is not a number')
  const nominated = (request.headers.connection ?? '').toLowerCase().split(',')
  const framing = nominated.find(name => /^\s*(?:host|content-length|transfer-encoding)\s*$/.test(name))
  return framing === undefined ? undefined : bad(`its connection header names ${framing.trim()}`)
}

function readConnect(request: IncomingMessage): Head | Rejection {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers
  if (coding !== undefined || Number(length) !== 0) return bad('CONNECT has no body')
  const target = parseAuthority(request.url ?? '')
  if (!target) return bad('CONNECT takes HOST:PORT')
  return agreeWithHost(request, target, undefined)
}

function readAbsolute(request: IncomingMessage): Head | Rejection {
  const url = request.url ?? ''
  const match = /^http:\/\/([^/?#]*)([^#]*)$/i.exec(url)
  if (!match) {
    if (/^(?:https|wss):/i.test(url)) return bad('it is for CONNECT, not for a plain request')
    return bad('this is a proxy: it takes absolute http URLs (without fragment) and CONNECT')
  }
  const [, authority = '', rest = ''] = match
  if (authority.includes('@')) return bad('its URL holds user information')
  const target = parseAuthority(authority, 80)
  if (!target) return bad('the host or port of its URL cannot be read')
  if (request.method === 'TRACE') return bad('TRACE is not carried', 501)
  if (/websocket/i.test(request.headers.upgrade ?? '')) {
    return bad('a websocket goes through CONNECT, also an unencrypted one (RFC 6455 section 4.1)', 501)
  }
  const path = rest.startsWith('/') ? rest : rest || request.method !== 'OPTIONS' ? `/${rest}` : '*'
  return agreeWithHost(request, target, path)
}

/** The Host header must name what the target names, or the server could be made to see another one. */
function agreeWithHost(
  request: IncomingMessage,
  target: Authority,
  path: string | undefined,
): Head | Rejection {
  const { host } = request.headers
  if (host === undefined) {
    return request.httpVersion === '1.0' ? { target, path } : bad('it has no Host header')
  }
  // Many clients leave the port out of the Host header of a CONNECT.
  const named = parseAuthority(host, path === undefined ? target.port : 80)
  const isSame = named !== undefined && sameHost(named, target) && named.port === target.port
  return isSame ? { target, path } : bad('its Host header names another host than its target')
}

function sameHost(a: Authority, b: Authority): boolean {
  if (a.host.kind === 'invalid' || b.host.kind === 'invalid') return a.host.kind === b.host.kind
  return a.host.text === b.host.text
}
