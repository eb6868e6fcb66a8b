import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'
import { as, authorizedProxy, offeringServer } from './authz-world.ts'

/** A decision point that says nothing until it recovers; then it allows. */
async function hangingPoint() {
  const open = new Set<ServerResponse>()
  const seen = { questions: 0, most: 0 }
  let isWell = false
  const yes = (response: ServerResponse) => response.end('{"allow":true}')
  const url = await testServer((request, response) => {
    request.resume()
    seen.questions++
    if (isWell) return yes(response)
    open.add(response)
    seen.most = Math.max(seen.most, open.size)
    response.once('close', () => open.delete(response))
  })
  const recover = () => {
    isWell = true
    for (const response of open) yes(response)
  }
  return { url, open, seen, recover }
}

async function askingProxy(url: string, timeout: number) {
  const { target, received } = await offeringServer()
  const proxy = await authorizedProxy(
    {
      authz_config: {
        version: '1.0',
        type: 'httpv1',
        pdp: { http: { url, timeout }, claim_mapping: 'standard' },
      },
    },
    { target },
  )
  const called = () => received.filter(text => text.includes('tools/call')).length
  return { ...proxy, called }
}

const call = rpc('tools/call', 1, { name: 'pay' })

test('a question ends when its caller goes away', async () => {
  const point = await hangingPoint()
  const { url, called, logged } = await askingProxy(point.url, 300)
  const leaving = new AbortController()
  const left = fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...as({ sub: 'a' }) },
    body: call,
    signal: leaving.signal,
  })
  await expect.poll(() => point.open.size).toBe(1)
  leaving.abort()
  await expect(left).rejects.toThrow('abort')
  await expect.poll(() => point.open.size).toBe(0)
  point.recover()
  expect((await post(url, call, as({ sub: 'a' }))).status).toBe(200)
  expect(called()).toBe(1)
  expect(logged.join()).not.toContain('could not be asked')
})

test('a thousand callers of a decision point that hangs hold 32 connections, and all recovers', async () => {
  const point = await hangingPoint()
  const { url, decisions, called } = await askingProxy(point.url, 300)
  const callers = Array.from({ length: 1000 }, (_, n) =>
    post(url, call, as({ sub: `caller-${n}` })).then(({ status }) => status),
  )
  // Those that found no place are denied while the others hang.
  const busy = () => decisions.filter(decision => decision?.reason?.includes('busy')).length
  await expect.poll(busy, { timeout: 60_000 }).toBe(1000 - 32 - 256)
  await expect.poll(() => point.seen).toEqual({ questions: 32, most: 32 })
  expect(called()).toBe(0)
  point.recover()
  const statuses = await Promise.all(callers)
  expect(statuses.filter(status => status === 403)).toHaveLength(1000 - 32 - 256)
  expect(statuses.filter(status => status === 200)).toHaveLength(32 + 256)
  expect([called(), point.seen.questions]).toEqual([288, 288])
  expect((await post(url, call, as({ sub: 'late' }))).status).toBe(200)
})

test('questions that wait end in time, and their places are free again', async () => {
  const point = await hangingPoint()
  const { url, decisions } = await askingProxy(point.url, 1)
  const all = Array.from({ length: 100 }, (_, n) => post(url, call, as({ sub: `caller-${n}` })))
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual(all.map(() => 403))
  expect(decisions.map(decision => decision?.reason)).toEqual(
    all.map(() => expect.stringContaining('the decision point could not be asked')),
  )
  await expect.poll(() => point.open.size).toBe(0)
  point.recover()
  expect((await post(url, call, as({ sub: 'late' }))).status).toBe(200)
})
