const MOST_HOPS = 30

/**
 * Does what a person does in a browser: follows redirects, keeps cookies for each host, and agrees where a page asks.
 * Returns the first URL that starts with `end`.
 */
export async function logInAsPerson(start: string, end: string): Promise<URL> {
  const jars = new Map<string, Map<string, string>>()
  let request = new Request(start)
  for (let hop = 0; hop < MOST_HOPS; hop++) {
    if (request.url.startsWith(end)) return new URL(request.url)
    const { host } = new URL(request.url)
    const jar = jars.get(host) ?? new Map<string, string>()
    jars.set(host, jar)
    request.headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '))
    const response = await fetch(request, { redirect: 'manual' })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value) jar.set(name, value)
      else jar.delete(name)
    }
    const location = response.headers.get('location')
    if (location) request = new Request(new URL(location, request.url))
    else request = agree(await response.text(), response)
  }
  throw new Error(`the login does not end: ${request.url}`)
}

/** Presses "Allow" on the page that asks for consent. */
function agree(page: string, { status, url }: Response): Request {
  const [, action] = /<form method="post" action="([^"]+)">/.exec(page) ?? []
  if (!action) throw new Error(`${status} ${url}: ${page}`)
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)]
  const body = new URLSearchParams(
    fields.map(([, name = '', value = '']) => [name, value] as [string, string]),
  )
  body.set('decision', 'allow')
  return new Request(action, { method: 'POST', body })
}
