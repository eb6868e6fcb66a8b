import { describe, expect, test } from 'vitest'
import { call, open, rpc } from './raw-client.ts'
import { spawnFixture } from './spawn-server.ts'
import { startBridge } from './start-bridge.ts'

const start = async (name: string, env: Record<string, string> = {}, options = {}) => {
  const server = spawnFixture(name, env)
  return { server, ...(await startBridge({ attachment: server.attachment, ...options })) }
}

describe('a real process', () => {
  test('responses out of order from ten sessions that all use id 1 are neither lost nor swapped', async () => {
    const { url } = await start('holds-answers', { HOLD: '200' })
    const sessions = await Promise.all(Array.from({ length: 10 }, () => open(url)))
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const answer = await call(url, rpc(1, 'tools/call', { n }), sessions[n % 10]?.headers)
        return [answer.json.id, answer.json.result.n]
      }),
    )
    expect(answers).toEqual(Array.from({ length: 200 }, (_, n) => [1, n]))
  })

  test('that floods its output with noise is still usable', async () => {
    const { url, log } = await start('noise-on-stdout')
    const { headers } = await open(url)
    expect((await call(url, rpc(1, 'tools/call'), headers)).json.result).toEqual({ well: true })
    expect(log.length).toBeLessThan(50)
  })

  test('that writes a line beyond the limit fails that request only', async () => {
    const { url } = await start('huge-lines', {}, { limits: { maxLine: 1_000_000 } })
    const { headers } = await open(url)
    const [big, small] = await Promise.all([
      call(url, rpc(1, 'tools/call', { bytes: 5_000_000 }), headers),
      call(url, rpc(2, 'tools/call', { bytes: 500_000 }), headers),
    ])
    expect(big).toMatchObject({ status: 502, json: { id: 1, error: { code: -32000 } } })
    expect(small?.json.result.text).toHaveLength(500_000)
  })

  test('a response of 30 MiB passes', async () => {
    const { url } = await start('huge-lines')
    const { headers } = await open(url)
    const answer = await call(url, rpc(1, 'tools/call', { bytes: 30 * 1024 * 1024 }), headers)
    expect(answer.json.result.text).toHaveLength(30 * 1024 * 1024)
  })

  test('that exits at once gives 502 or 503, and says why', async () => {
    const { url, bridge } = await start('exit-at-once', {}, { waitMs: 50 })
    const answer = await call(url, rpc(1, 'initialize', {}))
    expect([502, 503]).toContain(answer.status)
    await expect.poll(() => bridge.health().error).toContain('exit code 7')
  })

  test('that never responds runs into the time-out', async () => {
    const { url } = await start('never-answers', {}, { limits: { requestTimeoutMs: 100 } })
    expect((await call(url, rpc(1, 'initialize', {}))).status).toBe(504)
    expect((await call(url, rpc(1, 'tools/call'))).status).toBe(504)
  })

  test('that is killed under load and replaced responds again, in the same sessions', async () => {
    const { url, server, bridge } = await start('holds-answers', { HOLD: '1000' })
    const { headers } = await open(url)
    const answers = Array.from({ length: 20 }, (_, id) => call(url, rpc(id, 'tools/call', { id }), headers))
    await server.kill()
    for (const answer of await Promise.all(answers)) expect([502, 503]).toContain(answer.status)
    await bridge.connect(spawnFixture('echo-server').attachment)
    const answer = await call(url, rpc(1, 'tools/call', { again: true }), headers)
    expect(answer.json.result.params).toEqual({ again: true })
  })
})
