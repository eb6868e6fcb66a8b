import { createHash } from 'node:crypto'
import type { Reply } from '../protocol/reply.ts'
import { type Html, html } from './html.ts'
import { STYLE } from './style.ts'

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/**
 * A page for a person. It has no scripts, loads nothing and cannot be framed (RFC 9700, section 4.16).
 * `formTargets`: origins or schemes that its form may lead to; Chromium counts redirects after it, too.
 */
export function pageReply(
  status: number,
  { title, content, formTargets = [] }: { title: string; content: Html; formTargets?: readonly string[] },
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): Reply {
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
`
  const body = html`</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    `form-action ${formTargets.length ? ["'self'", ...formTargets].join(' ') : "'none'"}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'x-frame-options': 'DENY',
      // Not `no-referrer`, with which a browser hides the origin of the form from us.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      ...headers,
    },
    body: `${document.text}<style>${STYLE}</style>\n${body.text}`,
  }
}
