import type { IncomingMessage } from 'node:http'
import { revisionOf } from './revisions/index.ts'

/** Whether a request is one of MCP 2026-07-28, by its headers. */
export const isModernRequest = ({ method, headers }: IncomingMessage): boolean =>
  method === 'POST' && !revisionOf(headers['mcp-protocol-version']).sessions
