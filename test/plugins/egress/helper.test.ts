import { createServer as createTcpServer } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { serve } from '../../../plugins/egress/helper/serve.ts'
import { withHelpers } from '../../../plugins/egress/helper/with-helpers.ts'
import { compilePolicy } from '../../../plugins/egress/policy.ts'
import { createEgressProxy, type EgressEvent } from '../../../plugins/egress/proxy/egress-proxy.ts'
import { isFailure } from '../../../src/errors.ts'
import { findFreePort } from '../../../src/lib/ports.ts'
import { createLog } from '../../../src/log.ts'
import { listenOn, resolveFrom, sendGet, statusOf, webServer } from './egress-world.ts'

/** A helper that runs in this process, and a host that opens doors in it. */
function helperWorld({ forbidden = [] as string[] } = {}) {
  const running: Duplex[] = []
  const events: EgressEvent[] = []
  const lines: Record<string, unknown>[] = []
  const log = createLog({ human: false, debug: false, write: line => lines.push(JSON.parse(line)) })
  const proxy = withHelpers(createEgressProxy({ log }), {
    log,
    onDecision: event => events.push(event),
    ownAddresses: () => new Set(forbidden),
    program: async () => 'the program',
  })
  onTestFinished(() => proxy.close())
  const programs: string[] = []
  const via = {
    name: 'helper',
    async run(program: string) {
      programs.push(program)
      const [host, helper] = duplexPair()
      running.push(helper)
      void serve(helper, helper, {
        onEnd: () => helper.destroy(),
        resolve: resolveFrom({ 'app.test': ['127.0.0.1'] }),
      })
      return host
    },
  }
  return { proxy, via, running, events, lines, programs }
}

const allowing = (...ports: number[]) =>
  compilePolicy({ network: { outbound: { allow_host: ['127.0.0.1', 'app.test'], allow_port: ports } } })

async function openDoor(world: ReturnType<typeof helperWorld>, policy = allowing(1), peer?: string) {
  const port = await findFreePort()
  const listen = { host: '127.0.0.1', port }
  const door = await world.proxy.open({
    workload: 'w',
    policy,
    listen,
    via: world.via,
    ...(peer ? { peer } : {}),
  })
  return { door, port }
}

test('a door in a helper has the policy that the host gave it, and tells the host what it decides', async () => {
  const web = await webServer()
  const world = helperWorld()
  const { port } = await openDoor(world, allowing(web.port))

  expect(statusOf(await sendGet(port, `http://app.test:${web.port}/`))).toBe(200)
  const denied = await sendGet(port, `http://evil.test:${web.port}/`)
  expect(denied).toContain('Rule: not_in_allow_host')
  await expect
    .poll(() => world.events)
    .toMatchObject([
      { workload: 'w', allowed: true, host: 'app.test' },
      { workload: 'w', allowed: false, rule: 'not_in_allow_host' },
    ])
  expect(world.lines).toMatchObject([
    { level: 'WARN', msg: 'egress denied', workload: 'w', host: 'evil.test' },
  ])
})

test('doors of several workloads share one program, which ends with the last of them', async () => {
  const world = helperWorld()
  const first = await openDoor(world)
  const second = await openDoor(world)
  expect(world.programs).toEqual(['the program'])
  await first.door.close()
  expect(world.running[0]?.destroyed).toBe(false)
  expect(await sendGet(first.port, 'http://app.test/')).toBe('')
  expect(statusOf(await sendGet(second.port, 'http://evil.test/'))).toBe(403)
  await second.door.close()
  await expect.poll(() => world.running[0]?.destroyed).toBe(true)
})

test('a policy that changes counts at once', async () => {
  const web = await webServer()
  const world = helperWorld()
  const { door, port } = await openDoor(world, allowing(web.port))
  await door.update(allowing(1))
  expect(statusOf(await sendGet(port, `http://app.test:${web.port}/`))).toBe(403)
})

test('a helper that is lost is started anew, with every door as it was', async () => {
  const web = await webServer()
  const world = helperWorld()
  const { door, port } = await openDoor(world, allowing(1))
  await door.update(allowing(web.port))

  world.running[0]?.destroy()
  await expect.poll(() => world.programs.length).toBe(2)
  await expect
    .poll(() => sendGet(port, `http://app.test:${web.port}/`).then(statusOf, () => 0), { timeout: 10_000 })
    .toBe(200)
})

test('a helper that cannot be started makes the door unusable, and says why', async () => {
  const world = helperWorld()
  const via = { name: 'broken', run: () => Promise.reject(new Error('no room')) }
  const listen = { host: '127.0.0.1', port: await findFreePort() }
  const error = await world.proxy
    .open({ workload: 'w', policy: allowing(1), listen, via })
    .catch(found => found)
  expect(isFailure(error, 'door_unusable')).toBe(true)
  expect(error.message).toContain('no room')
})

test('an address that is taken in the helper makes the door unusable', { timeout: 20_000 }, async () => {
  const world = helperWorld()
  const taken = await listenOn(createTcpServer())
  const open = world.proxy.open({
    workload: 'w',
    policy: allowing(1),
    listen: { host: '127.0.0.1', port: taken },
    via: world.via,
  })
  await expect(open).rejects.toThrow('EADDRINUSE')
})

test('the host reaches the instance behind a door, and nobody else, through the helper', async () => {
  const world = helperWorld()
  const port = await listenOn(
    createTcpServer(
      { allowHalfOpen: true },
      async socket => void socket.end(`you said ${await text(socket)}`),
    ),
  )
  const { door } = await openDoor(world, allowing(1), '127.0.0.1')
  const way = await door.lead?.('127.0.0.1', port)
  way?.end('hello')
  expect(await text(way as Duplex)).toBe('you said hello')

  await expect(door.lead?.('127.0.0.2', port)).rejects.toThrow('403')
  await expect(door.lead?.('127.0.0.1', await findFreePort())).rejects.toThrow('ECONNREFUSED')
})

test('addresses of the machine that the host runs on are denied in the helper, too', async () => {
  const web = await webServer()
  const world = helperWorld({ forbidden: ['198.51.99.7'] })
  const everything = compilePolicy({ network: { outbound: { insecure_allow_all: true } } })
  const { port } = await openDoor(world, everything)
  expect(await sendGet(port, `http://198.51.99.7:${web.port}/`)).toContain('Rule: own_address')
})
