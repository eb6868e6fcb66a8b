import type { Operation } from '../../src/http/api.ts'

/** Returns a page of all operations with their purpose, parameters and responses. It has no script. */
export function toPage(operations: readonly Operation[]): string {
  const tags = [...new Set(operations.map(({ tag }) => tag))].sort()
  const sections = tags.map(tag => {
    const own = operations.filter(operation => operation.tag === tag)
    return `<h2>${escapeHtml(tag)}</h2>\n${own.map(describe).join('\n')}`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>keelson HTTP API</title>
<style>${STYLE}</style>
<h1>keelson HTTP API</h1>
<p>The same for programs: <a href="/api/openapi.json">/api/openapi.json</a></p>
${sections.join('\n')}
</html>
`
}

const STYLE =
  ':root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}' +
  'summary{cursor:pointer}pre{overflow:auto;padding:.5rem;border:1px solid}code{font-weight:600}'

function describe({
  id,
  method,
  path,
  summary,
  query = {},
  body,
  response,
  failures = [],
}: Operation): string {
  const parameters = Object.entries(query).map(
    ([name, { type, description }]) =>
      `<li><code>${escapeHtml(name)}</code> (${type}): ${escapeHtml(description)}</li>`,
  )
  return `<details id="${escapeHtml(id)}">
<summary><code>${method} ${escapeHtml(path)}</code> ${escapeHtml(summary)}</summary>
${parameters.length ? `<p>Query</p><ul>${parameters.join('')}</ul>` : ''}
${body ? `<p>Body</p><pre>${escapeHtml(JSON.stringify(body, undefined, 2))}</pre>` : ''}
<p>Success: ${response[0]}${failures.length ? `; failures: ${failures.join(', ')}` : ''}</p>
${typeof response[1] === 'string' ? '' : `<pre>${escapeHtml(JSON.stringify(response[1], undefined, 2))}</pre>`}
</details>`
}

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
