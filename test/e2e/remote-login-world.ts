import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, type TestContext } from 'vitest'
import { protectedServer } from '../plugins/auth-out/oauth/protected-server.ts'
import { visit } from '../support/browser.ts'
import { fakeProgram } from '../support/fake-program.ts'
import { identityProvider } from '../support/identity-provider.ts'
import { keepSecrets } from '../support/keelson.ts'
import { openHome, until } from './home.ts'
import { whoAmIServer } from './who-am-i.ts'

/** In seconds. */
export const HOUR = 3600
const RETRY_SOON = {
  KEELSON_TOKEN_REFRESH_INITIAL_RETRY_INTERVAL: '200ms',
  KEELSON_TOKEN_REFRESH_MAX_RETRY_INTERVAL: '1s',
  KEELSON_TOKEN_AUTH_RETRYING_TICK_INTERVAL: '1s',
}

/** A new home that keeps secrets, an identity provider with pages, and a server that demands its tokens. */
export async function world(context: TestContext, { tokenSeconds = HOUR } = {}) {
  const { PATH = '' } = await fakeProgram('xdg-open', `printf '%s\\n' "$1" >>"$(dirname "$0")/opened"`)
  const home = await openHome({ PATH, KEELSON_SECRETS_PASSWORD: 'a password of the test', ...RETRY_SOON })
  onTestFinished(() => home.closeRemote())
  await keepSecrets(home.env)
  const provider = await identityProvider({ pages: true, format: 'opaque', accessTokenSeconds: tokenSeconds })
  const clock = { aheadMs: 0 }
  const server = await protectedServer({
    issuer: provider.issuer,
    scopes: ['openid', 'offline_access'],
    respond: whoAmIServer(provider, () => Date.now() + clock.aheadMs),
  })

  /** The addresses that a browser was started with. */
  async function opened(): Promise<string[]> {
    const [folder = ''] = PATH.split(':')
    const lines = await readFile(join(folder, 'opened'), 'utf8').catch(() => '')
    return lines.split('\n').filter(Boolean)
  }

  /** Types a command that starts a browser, and logs in there. Returns what it printed. */
  async function logIn(...args: string[]): Promise<string> {
    const before = (await opened()).length
    const child = home.start(args)
    onTestFinished(() => void child.kill('SIGKILL'))
    if (!child.stdout || !child.stderr) throw new Error('unreachable')
    const printed = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    const address = await until(async () => {
      if (child.exitCode !== null) return undefined
      const [found] = (await opened()).slice(before)
      expect(found, 'no browser was started').toBeDefined()
      return found
    })
    if (address) await fillIn(context, address)
    const [stdout, stderr, [code]] = await printed
    expect([code, Boolean(address)], stderr).toEqual([0, true])
    return stdout.trim()
  }

  const sent = () => provider.asked.filter(({ path }) => path === '/token').map(({ form }) => form)
  return {
    ...{ home, provider, server, clock, opened, logIn },
    /** The refresh tokens that the provider was sent, in order. */
    spent: () => sent().flatMap(form => form.get('refresh_token') ?? []),
    /** The access token that the server was sent last. */
    lastToken: () =>
      server.asked.findLast(({ headers }) => headers.authorization)?.headers.authorization?.slice(7) ?? '',
    logins: () => sent().filter(form => form.get('grant_type') === 'authorization_code').length,
    async listed() {
      const [far] = JSON.parse(await home.ok(['list', '--all', '--format', 'json']))
      return far as { status: string; status_context?: string }
    },
    /** Until when keelson takes its access token to be good, in milliseconds since 1970. */
    async tokenEnd(): Promise<number> {
      const [login] = JSON.parse(await home.ok(['auth', 'status', 'far', '--format', 'json']))
      return Date.parse(login.token_expires_at)
    },
  }
}

/** Does what a person does in front of the browser, up to the page that says that all is done. */
async function fillIn(context: TestContext, address: string): Promise<void> {
  const { page, problems, requests } = await visit(context, address)
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('Password').fill('secret')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('heading', { name: 'You are logged in' }).waitFor()
  expect(requests.at(-1)).toMatch(/^GET http:\/\/localhost:\d+\/callback\?/) // it loads nothing more
  expect(await page.locator('script').count()).toBe(0)
  expect(problems).toEqual([])
}
