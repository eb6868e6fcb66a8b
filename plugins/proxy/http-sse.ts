import type { Exchange } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isModernRequest } from './modern-request.ts'

const ENDPOINT = /^\/(?:mcp|sse)\/?(?:\?|$)/
const MESSAGES = /^\/messages(?:\?|$)/

/**
 * Whether a request is one of HTTP+SSE (MCP 2024-11-05). In front of a stdio server clients of both HTTP transports use
 * the same URLs: a GET that names no session opens an event stream of HTTP+SSE, whose messages have a path of their own.
 */
export function isOverSse(config: RunConfig, { request, url }: Pick<Exchange, 'request' | 'url'>): boolean {
  if (config.transport !== 'stdio') return config.transport === 'sse' && !isModernRequest(request)
  if (MESSAGES.test(url)) return true
  return request.method === 'GET' && ENDPOINT.test(url) && request.headers['mcp-session-id'] === undefined
}

/** Whether a URL is the endpoint of streamable HTTP in front of a stdio server. */
export const isEndpoint = (url: string): boolean => ENDPOINT.test(url)
