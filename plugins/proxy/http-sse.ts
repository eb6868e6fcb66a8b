import type { Exchange } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { wantsStream } from './bridge/http/mcp-headers.ts'
import { isModernRequest } from './modern-request.ts'

const ENDPOINT = /^\/(?:mcp|sse)\/?(?:\?|$)/
const MESSAGES = /^\/messages(?:\?|$)/

/**
 * Whether a request is one of HTTP+SSE (MCP 2024-11-05). In front of a stdio server clients of both HTTP transports use
 * the same URLs: a GET that names no session opens an event stream of HTTP+SSE, whose messages have a path of their own.
 */
export function isOverSse(config: RunConfig, { request, url }: Pick<Exchange, 'request' | 'url'>): boolean {
  if (config.transport !== 'stdio') return config.transport === 'sse' && !isModernRequest(request)
  return isMessage(url) || opensSse({ request, url })
}

/** Whether a URL is where messages of HTTP+SSE go, in front of a server that does not speak it itself. */
export const isMessage = (url: string): boolean => MESSAGES.test(url)

/**
 * Whether a request opens an event stream of HTTP+SSE at such a server.
 *
 * @param ownPath the path of the URL that clients are given, which a remote server may determine
 */
export const opensSse = ({ request, url }: Pick<Exchange, 'request' | 'url'>, ownPath?: string): boolean =>
  request.method === 'GET' &&
  (ENDPOINT.test(url) || url.split('?', 1)[0] === ownPath) &&
  request.headers['mcp-session-id'] === undefined

/**
 * Whether such a request can only be one of HTTP+SSE, at a server that may have sessions of streamable HTTP. Since
 * 2025-06-18, clients of streamable HTTP name their version.
 */
export const seeksEndpoint = ({ request }: Pick<Exchange, 'request'>): boolean =>
  request.method === 'GET' && wantsStream(request) && request.headers['mcp-protocol-version'] === undefined

/** The endpoint of streamable HTTP for a URL of HTTP+SSE, which the server does not know; any other URL is its own. */
export const endpointUrl = (url: string): string =>
  isMessage(url) ? '/mcp' : url.replace(/^\/sse\/?(?=\?|$)/, '/mcp')

/** Whether a URL is the endpoint of streamable HTTP in front of a stdio server. */
export const isEndpoint = (url: string): boolean => ENDPOINT.test(url)
