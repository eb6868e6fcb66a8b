import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Home, openHome } from '../../e2e/home.ts'
import { keepSecrets } from '../../support/keelson.ts'
import { testServer } from '../proxy/test-proxy.ts'

/** A remote server that notes the headers of requests and takes those that `accept` likes. */
export interface GuardedServer {
  readonly origin: string
  /** What to give to `run`. */
  readonly url: string
  readonly seen: IncomingHttpHeaders[]
  /** From now on. */
  accept(how: (headers: IncomingHttpHeaders) => boolean): void
}

export async function guardedServer(
  refuse: (response: ServerResponse) => void = response =>
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(),
): Promise<GuardedServer> {
  const seen: IncomingHttpHeaders[] = []
  let accepts: (headers: IncomingHttpHeaders) => boolean = () => true
  const origin = await testServer((request, response) => {
    seen.push(request.headers)
    request.resume()
    if (!accepts(request.headers)) return refuse(response)
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"jsonrpc":"2.0","id":1,"result":{}}')
  })
  return {
    origin,
    url: `${origin}/mcp`,
    seen,
    accept(how) {
      accepts = how
    },
  }
}

/** A home with a supervisor of its own; it goes away with the test. */
export async function testHome({ secrets = true }: { secrets?: boolean } = {}): Promise<Home> {
  const home = await openHome({ KEELSON_SECRETS_PASSWORD: 'a password of the test' })
  onTestFinished(() => home.closeRemote())
  if (secrets) await keepSecrets(home.env)
  return home
}

/** The files below a home that hold a text, by their paths in it. */
export async function filesWith(home: Home, text: string): Promise<string[]> {
  const files = globSync('**/*', { cwd: home.path, withFileTypes: true }).filter(entry => entry.isFile())
  const found: string[] = []
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name)
    if ((await readFile(path, 'latin1')).includes(text)) found.push(path.slice(home.path.length + 1))
  }
  return found
}
