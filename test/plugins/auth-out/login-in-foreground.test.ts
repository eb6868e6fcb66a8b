import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import type { Home } from '../../e2e/home.ts'
import type { IdentityProvider } from '../../support/identity-provider.ts'
import { post, rpc } from '../proxy/test-proxy.ts'
import { filesWith } from './guarded-server.ts'
import { login, runAndLogIn, world } from './login-world.ts'

/** Starts a command that goes on, and does in a browser what it says. Resolves with the URL for clients. */
async function startAndLogIn(home: Home, args: readonly string[], provider: IdentityProvider) {
  const child = home.start([...args, '--remote-auth-skip-browser'])
  onTestFinished(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  })
  if (!child.stdout || !child.stderr) throw new Error('it has no output')
  const said: string[] = []
  createInterface({ input: child.stderr }).on('line', line => {
    said.push(line)
    if (line.startsWith('http')) void provider.visit(line)
  })
  const [url] = await once(createInterface({ input: child.stdout }), 'line')
  return { url: String(url), said }
}

test.each([
  ['proxy', (mcp: string) => ['proxy', 'far', '--target-uri', mcp]],
  ['run --foreground', (mcp: string) => ['run', mcp, '--name', 'far', '--foreground']],
])('%s keeps its login itself where no provider does', { timeout: 120_000 }, async (_, args) => {
  const { home, provider, server, asked } = await world({ secrets: false })

  const { url, said } = await startAndLogIn(home, args(server.mcp), provider)

  expect((await post(url, rpc('ping', 1))).status).toBe(200)
  expect(said.join('\n')).toContain('The login lasts until this process ends.')
  expect(await home.supervisor()).toBe(0)
  const token = server.asked.at(-1)?.headers.authorization?.slice(7) ?? ''
  expect(token).toMatch(/^ey/)
  expect(await filesWith(home, token)).toEqual([])
  expect(asked('authorization_code')).toBe(1)
})

test('proxy uses a login that the supervisor keeps', { timeout: 120_000 }, async () => {
  const { home, provider, server, asked } = await world({ secrets: false })
  await runAndLogIn(home, login(server, 'far'), provider)

  const { url } = await startAndLogIn(home, ['proxy', 'near', '--target-uri', server.mcp], provider)

  expect((await post(url, rpc('ping', 1))).status).toBe(200)
  expect(asked('authorization_code')).toBe(1)
})
