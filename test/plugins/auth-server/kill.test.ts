import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { bundled } from '../../support/bundled.ts'
import { series } from '../../support/series.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { rawServer } from '../proxy/test-proxy.ts'
import { CALLBACK, oauthClient } from './auth-world.ts'
import { plainProvider } from './plain-provider.ts'

const STEPS = ['register', 'authorize', 'callback', 'consent', 'token', 'refresh'] as const
type Step = (typeof STEPS)[number]
/** `afterMs` undefined: between this step and the next one. */
interface Kill {
  readonly step: Step
  readonly afterMs?: number | undefined
}
interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

const program = bundled(new URL('./kill-server.ts', import.meta.url))

/** A server in a process of its own, at one origin whichever process it is. */
async function mortalServer() {
  const folder = await temporaryFolder()
  const provider = await plainProvider()
  let child: ChildProcess | undefined
  let port = 0
  const origin = await rawServer(socket => {
    const there = connect(port, '127.0.0.1')
    there.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.on('close', () => there.destroy())
    socket.pipe(there).pipe(socket)
  })
  async function start() {
    const next = spawn(process.execPath, [program, folder, origin, provider.origin], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child = next
    const [line] = await Promise.race([
      once(next.stdout, 'data'),
      once(next, 'exit').then(() => Promise.reject(new Error('the server did not start'))),
    ])
    port = Number(line)
  }
  async function restart() {
    if (child) {
      const closed = once(child, 'close')
      child.kill('SIGKILL')
      await closed
    }
    await start()
  }
  onTestFinished(() => void child?.kill('SIGKILL'))
  await start()
  return { origin, provider, restart }
}

const codeOf = (url: string) => new URL(url).searchParams.get('code') ?? ''
const isAtClient = (url: string) => url.startsWith(`${CALLBACK}?`)

/** Logs in with one kill on the way; what the kill took is begun again. */
function walk({ provider, restart, origin }: Awaited<ReturnType<typeof mortalServer>>, kill: Kill) {
  const client = oauthClient(origin)
  let isDue = true
  /** Returns undefined where the kill took the response. */
  async function step<T>(name: Step, work: () => Promise<T>): Promise<T | undefined> {
    if (!isDue || kill.step !== name) return work()
    isDue = false
    if (kill.afterMs === undefined) {
      const done = await work()
      await restart()
      return done
    }
    const attempt = work().catch(() => undefined)
    await delay(kill.afterMs)
    await restart()
    return attempt
  }
  async function code(id: string): Promise<{ code: string; asked: boolean }> {
    const tab = client.browser()
    const begun = await step('authorize', () => tab.follow(client.authorizeUrl(id)))
    if (!begun) return code(id)
    expect(begun.url).toContain(`${provider.origin}/authorize`)
    const back = await provider.visit(begun.url)
    const page = await step('callback', async () => {
      const { response, url } = await tab.follow(back)
      return { url, status: response.status, text: await response.text() }
    })
    if (!page) return code(id)
    if (isAtClient(page.url)) return { code: codeOf(page.url), asked: false }
    expect(page.status, page.text).toBe(200)
    const agreed = await step('consent', () => tab.press(page.text, 'allow'))
    if (!agreed) return code(id)
    expect(isAtClient(agreed.url), agreed.url).toBe(true)
    return { code: codeOf(agreed.url), asked: true }
  }
  /** A second try after a lost response either is the first use, or is refused. */
  async function tokens(
    name: 'token' | 'refresh',
    ask: () => Promise<Response>,
  ): Promise<Tokens | undefined> {
    const read = async () => {
      const response = await ask()
      return { status: response.status, body: (await response.json()) as Tokens }
    }
    const first = await step(name, read)
    const { status, body } = first ?? (await read())
    if (status === 200) return body
    expect([first, status, body]).toMatchObject([undefined, 400, { error: 'invalid_grant' }])
    return undefined
  }
  async function loggedIn(id: string): Promise<Tokens & { code: string }> {
    const { code: given } = await code(id)
    const issued = await tokens('token', () => client.token(client.codeFields(id, given)))
    if (!issued) return loggedIn(id)
    const renewed = await tokens('refresh', () => client.refresh(id, issued.refresh_token))
    if (!renewed) return loggedIn(id)
    return { ...renewed, code: given }
  }
  async function registered(): Promise<string> {
    return (await step('register', () => client.registered())) ?? registered()
  }
  return { client, code, loggedIn, registered }
}

const kills: Kill[] = STEPS.flatMap((step, index) => [
  { step },
  ...Array.from({ length: series({ usual: 1, long: 12 }) }, (_, round) => ({
    step,
    afterMs: (7 * index + 5 * round + 3) % 23,
  })),
])

test(
  'whenever the server is killed, what it issued works, once, and everything else can begin again',
  async () => {
    const server = await mortalServer()
    for (const kill of kills) {
      const { client, code, loggedIn, registered } = walk(server, kill)
      const at = JSON.stringify(kill)
      const id = await registered()
      const metadata = { token_endpoint_auth_method: 'client_secret_post' }
      const watcher = (await (await client.register(metadata)).json()) as Record<string, string>
      async function isActive(token: string) {
        const { client_id = '', client_secret = '' } = watcher
        const body = new URLSearchParams({ token, client_id, client_secret })
        const response = await fetch(`${server.origin}/oauth/introspect`, { method: 'POST', body })
        return ((await response.json()) as { active: boolean }).active
      }

      const issued = await loggedIn(id)
      expect(await isActive(issued.access_token), at).toBe(true)
      expect((await code(id)).asked, at).toBe(false)
      const renewal = await client.refresh(id, issued.refresh_token)
      expect(renewal.status, at).toBe(200)
      const renewed = (await renewal.json()) as Tokens
      expect(await isActive(renewed.access_token), at).toBe(true)
      expect((await client.refresh(id, issued.refresh_token)).status, at).toBe(400)
      expect((await client.refresh(id, renewed.refresh_token)).status, at).toBe(400)
      expect((await client.token(client.codeFields(id, issued.code))).status, at).toBe(400)
      expect(await isActive(renewed.access_token), at).toBe(false)
    }
  },
  series({ usual: 120_000, long: 600_000 }),
)
