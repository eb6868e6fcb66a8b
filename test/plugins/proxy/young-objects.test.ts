import { type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { identityProvider } from '../../support/identity-provider.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { main } from '../../support/main.ts'
import { modernHeaders, modernParams } from './bridge/modern-client.ts'
import { open } from './bridge/raw-client.ts'
import { post, rpc, testServer } from './test-proxy.ts'

const root = new URL('../../../', import.meta.url).pathname

const POLICY = 'permit(principal, action == Action::"call_tool", resource == Tool::"echo");'
const RESULT = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'x' }] } })

/** A program whose collections of young objects are counted. */
interface Counted {
  readonly url: string
  /** How much of what is allocated meanwhile outlives a collection, as a part of 1. */
  survivingOf(makeCalls: () => Promise<void>): Promise<number>
}

/** Starts a program that prints a URL. */
async function startCounted(args: readonly string[], options: SpawnOptions = {}): Promise<Counted> {
  const flags = ['--trace-gc-nvp', '--max-semi-space-size=4']
  const child = spawn(process.execPath, [...flags, ...args], { ...options, stdio: 'pipe' })
  onTestFinished(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  })
  let [said, problem] = ['', '']
  child.stdout.on('data', chunk => (said += chunk))
  child.stderr.on('data', chunk => (problem += chunk))
  const urlOf = () => /^http:\S+$/m.exec(said)?.[0]
  await expect.poll(() => child.exitCode ?? urlOf(), { timeout: 60_000 }).toBeDefined()
  const url = urlOf()
  if (url === undefined) throw new Error(problem)
  return {
    url,
    async survivingOf(makeCalls) {
      const before = said.length
      await makeCalls()
      const collections = said
        .slice(before)
        .split('\n')
        .filter(line => line.includes(' gc=s '))
      const sum = (figure: string) =>
        collections.reduce(
          (sum, line) => sum + Number(new RegExp(` ${figure}=(\\d+)`).exec(line)?.[1] ?? Number.NaN),
          0,
        )
      expect(collections.length).toBeGreaterThan(2)
      return sum('new_space_survived') / sum('allocated')
    },
  }
}

/**
 * What a call has needed is garbage when it is answered. Objects that V8 keeps until a full collection all the same
 * (functions assigned to a member where they are written, accessors of object literals, values of a WeakMap that lead
 * back to their keys) make each collection of young objects copy some of every call, and the calls meanwhile wait.
 */
test('a call with all policies leaves nothing that outlives a collection of young objects', {
  timeout: 120_000,
}, async () => {
  const [user, provider] = await Promise.all([keelsonUser(), identityProvider()])
  const server = await testServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(RESULT)
    })
  })
  const authz = { version: '1.0', type: 'cedarv1', cedar: { policies: [POLICY] } }
  await writeFile(join(user.home, 'authz.json'), JSON.stringify(authz))
  const { url, survivingOf } = await startCounted(
    [
      ...[main, 'run', `${server}/mcp`, '--name', 'notes'],
      ...['--foreground', '--enable-audit', '--authz-config', 'authz.json', '--rate-limit', '100000/1s'],
      ...['--rate-limit-per-user', '100000/1s', '--max-concurrent-calls', '1000', '--tools', 'echo'],
      ...['--oidc-issuer', provider.issuer, '--oidc-audience', provider.audience],
      ...['--oidc-insecure-allow-http', '--jwks-allow-private-ip'],
    ],
    { cwd: user.home, env: user.env },
  )
  const authorization = `Bearer ${await provider.sign({ sub: 'ada' })}`
  const call = rpc('tools/call', 1, { name: 'echo', arguments: { text: 'x'.repeat(1000) } })
  const makeCalls = async (count: number) => {
    for (let made = 0; made < count; made++) {
      const response = await post(url, call, { authorization })
      expect(await response.text()).toBe(RESULT)
    }
  }

  await makeCalls(500)
  expect(await survivingOf(() => makeCalls(1000))).toBeLessThan(0.06)
})

for (const server of ['echo-server', 'modern-only']) {
  test(`a call of either era at ${server} leaves nothing that outlives a collection of young objects`, {
    timeout: 120_000,
  }, async () => {
    const { url, survivingOf } = await startCounted([
      `${root}fixtures/bridge-process.ts`,
      `${root}fixtures/stdio-servers/${server}.ts`,
    ])
    const { headers } = await open(url)
    const params = { name: 'hello', arguments: {} }
    const clients = [
      { headers, body: rpc('tools/call', 1, params) },
      { headers: modernHeaders('tools/call', params), body: rpc('tools/call', 1, modernParams(params)) },
    ]
    for (const { headers, body } of clients) {
      const makeCalls = async (count: number) => {
        for (let made = 0; made < count; made++) {
          const response = await post(url, body, headers)
          expect(await response.text()).toContain('hello')
        }
      }
      await makeCalls(500)
      expect(await survivingOf(() => makeCalls(1000))).toBeLessThan(0.03)
    }
  })
}
