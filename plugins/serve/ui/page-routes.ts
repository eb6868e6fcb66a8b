import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { readPageFiles } from './page-files.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Nothing but our own files, and no way from a text to markup or script (CSP level 3, Trusted Types). */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob:", // images and sounds of tool results, which the page makes from bytes
  'media-src blob:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  /** Kept, but asked about each time: a new version shows at once (RFC 9111, section 5.2.2.4). */
  'cache-control': 'no-cache',
}

/**
 * Shows the page at `/`. It is sent to everybody, also where callers have to log in: it holds
 * nothing of the user's, and asks for a token. No path of a request ever reaches the disk.
 */
export async function pageRoutes(server: FastifyInstance): Promise<void> {
  for (const [name, bytes] of await readPageFiles()) {
    const type = TYPES[extname(name)] ?? 'application/octet-stream'
    const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`
    server.route({
      method: ['GET', 'HEAD'],
      url: name === 'index.html' ? '/' : `/ui/${name}`,
      config: { open: true },
      handler: (request, reply) => {
        reply.headers({ ...HEADERS, etag })
        if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
        return reply.header('content-type', type).send(bytes)
      },
    })
  }
}

/** `If-None-Match` compares weakly, and may be a list (RFC 9110, section 13.1.2). */
const isKnown = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some(tag => tag.trim().replace(/^W\//, '') === etag) === true
