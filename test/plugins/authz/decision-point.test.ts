import type { RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import { testServer } from '../proxy/test-proxy.ts'
import { ask, authorizedProxy, isOwn, offeringServer } from './authz-world.ts'

async function askedPoint(respond: RequestListener, timeout = 30) {
  const questions: { resource: string }[] = []
  const url = await testServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    questions.push(JSON.parse(text))
    respond(request, response)
  })
  const { target, received } = await offeringServer({
    tools: Array.from({ length: 40 }, (_, n) => ({ name: `tool-${n}` })),
  })
  const context = { include_args: true, include_operation: true }
  const proxy = await authorizedProxy(
    {
      authz_config: {
        version: '1.0',
        type: 'httpv1',
        pdp: { http: { url, timeout }, claim_mapping: 'standard', context },
      },
    },
    { target },
  )
  return { ...proxy, questions, received }
}

test('a decision point is told of the use, and only its yes allows', async () => {
  let isAllowed: unknown = true
  const { url, questions, decisions, received } = await askedPoint((_, response) =>
    response.end(JSON.stringify({ allow: isAllowed })),
  )
  const claims = { sub: 'alice', scope: 'a b', roles: ['dev'], email: 'a@example.com' }
  const call = () => ask(url, claims, 'tools/call', { name: 'pay', arguments: { amount: 1.5 } })
  expect((await call()).status).toBe(200)
  expect(questions).toEqual([
    {
      principal: { sub: 'alice', roles: ['dev'], scopes: ['a', 'b'] },
      operation: 'mcp:tool:call',
      resource: 'mrn:mcp:test:tool:pay',
      context: { mcp: { feature: 'tool', operation: 'call', resource_id: 'pay', args: { amount: 1.5 } } },
    },
  ])
  for (const other of [false, 'true', 1, null, { allow: true }, undefined]) {
    isAllowed = other
    expect([other, (await call()).status]).toEqual([other, 403])
  }
  expect(decisions.map(decision => decision?.policies)).toEqual(decisions.map(() => ['pdp']))
  expect(received.filter(text => !isOwn(text))).toHaveLength(1)
})

test('a list shows what a decision point allows', async () => {
  const point: { questions?: { resource: string }[] } = {}
  const allowed = /-(?:3|27)$/
  const asked = await askedPoint((request, response) => {
    void request
    response.end(JSON.stringify({ allow: allowed.test(point.questions?.at(-1)?.resource ?? '') }))
  })
  point.questions = asked.questions
  const { body } = await ask(asked.url, { sub: 'a' }, 'tools/list')
  expect(body.result.tools).toEqual([{ name: 'tool-3' }, { name: 'tool-27' }])
  expect(asked.questions).toHaveLength(40)
})

/** 200 MB that say yes at their end. */
const long: RequestListener = (_, response) => {
  const chunk = Buffer.alloc(1024 * 1024, 0x20)
  let left = 200
  const more = () => {
    while (left-- > 0) if (!response.write(chunk)) return response.once('drain', more)
    response.end('{"allow":true}')
  }
  more()
}

const yes = '{"allow":true}'

test.each<[string, RequestListener]>([
  ['hangs', () => {}],
  ['hangs behind its headers', (_, response) => response.writeHead(200).write('{"allow":')],
  ['redirects to a yes', (_, response) => response.writeHead(307, { location: '/yes' }).end(yes)],
  ['says yes with another status', (_, response) => response.writeHead(201).end(yes)],
  ['fails', (_, response) => response.writeHead(500).end(yes)],
  ['says yes and no', (_, response) => response.end('{"allow":false,"allow":true}')],
  ['says no JSON', (_, response) => response.end(`${yes}${yes}`)],
  ['says a list', (_, response) => response.end(`[${yes}]`)],
  [
    'breaks off',
    (_, response) => response.writeHead(200, { 'content-length': '99' }).write(yes, () => response.destroy()),
  ],
  ['goes away', (_, response) => response.destroy()],
  ['says 200 MB', long],
])('a decision point that %s denies, and lists are empty', async (_, respond) => {
  const { url, received, logged } = await askedPoint(respond, 1)
  expect((await ask(url, { sub: 'a' }, 'tools/call', { name: 'pay' })).status).toBe(403)
  expect(received.filter(text => !isOwn(text))).toHaveLength(0)
  expect((await ask(url, { sub: 'a' }, 'tools/list')).body.result.tools).toEqual([])
  expect(logged.join()).toContain('the decision point could not be asked')
})
