import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import type { Home } from '../../e2e/home.ts'
import {
  type IdentityProvider,
  type IdentityProviderOptions,
  identityProvider,
} from '../../support/identity-provider.ts'
import { main } from '../../support/main.ts'
import { echoTool } from './echo-tool.ts'
import { testHome } from './guarded-server.ts'
import { protectedServer } from './oauth/protected-server.ts'

/** Types a command and does in a browser what it says. Gives what it printed. */
export async function runAndLogIn(home: Home, args: readonly string[], provider: IdentityProvider) {
  const child = spawn(process.execPath, ['--', main, ...args], {
    cwd: home.path,
    env: home.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [out, err]: string[][] = [[], []]
  let visits = 0
  createInterface(child.stdout).on('line', line => out?.push(line))
  createInterface(child.stderr).on('line', line => {
    err?.push(line)
    if (!line.startsWith('http')) return
    visits++
    void provider.visit(line.trim())
  })
  const code = await new Promise(resolve => child.once('close', resolve))
  return { code, url: out?.[0] ?? '', err: err?.join('\n') ?? '', visits }
}

/** What to type to run a server that demands a login. */
export const login = (server: { mcp: string }, name: string) => [
  ...['run', server.mcp, '--name', name, '--remote-auth-skip-browser'],
]

/** A home, an identity provider, and a server that demands its tokens. */
export async function world(
  options: { secrets?: boolean; scopes?: readonly string[] } & IdentityProviderOptions = {},
) {
  const home = await testHome(options)
  const provider = await identityProvider(options)
  const { scopes = ['openid', 'offline_access'] } = options
  const server = await protectedServer({ issuer: provider.issuer, scopes, respond: echoTool })
  const asked = (grant: string) =>
    provider.asked.filter(({ form }) => form.get('grant_type') === grant).length
  const status = async (name: string) => JSON.parse(await home.ok(['status', name, '--format', 'json']))
  return { home, provider, server, asked, status }
}
