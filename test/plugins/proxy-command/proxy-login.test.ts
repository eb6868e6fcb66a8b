import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { world } from '../auth-out/login-world.ts'
import { post, rpc } from '../proxy/test-proxy.ts'

test('a proxy prints where to log in at its target, and goes on once somebody has', async () => {
  const { home, provider, server } = await world()
  const child = home.start(['proxy', 'far', '--target-uri', server.mcp, '--remote-auth-skip-browser'])
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

  expect((await post(String(url), rpc('ping', 1))).status).toBe(200)

  expect(server.asked.at(-1)?.headers.authorization).toMatch(/^Bearer ey/)
  expect(said).toContain('Log in at:')
})
