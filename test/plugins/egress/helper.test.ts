import { createServer as createTcpServer } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { serveHost } from '../../../plugins/egress/helper/serve-host.ts'
import { withHelpers } from '../../../plugins/egress/helper/with-helpers.ts'
import { compilePolicy } from '../../../plugins/egress/policy.ts'
import { createEgressProxy, type EgressEvent } from '../../../plugins/egress/proxy/egress-proxy.ts'
import { isFailure } from '../../../src/errors.ts'
import { createLog } from '../../../src/log.ts'
import { freePort } from '../../support/free-port.ts'
import { listenOn, resolveFrom, sendGet, statusOf, webServer } from './egress-world.ts'

/** A helper that runs in this process, and a host that opens listeners in it. */
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
  const helper = {
    name: 'helper',
    async run(program: string) {
      programs.push(program)
      const [host, end] = duplexPair()
      running.push(end)
      void serveHost(end, end, {
        onEnd: () => end.destroy(),
        resolve: resolveFrom({ 'app.test': ['127.0.0.1'] }),
      })
      return host
    },
  }
  return { proxy, helper, running, events, lines, programs }
}

const allowing = (...ports: number[]) =>
  compilePolicy({ network: { outbound: { allow_host: ['127.0.0.1', 'app.test'], allow_port: ports } } })

async function openListener(world: ReturnType<typeof helperWorld>, policy = allowing(1), peer?: string) {
  const port = await freePort()
  const listen = { host: '127.0.0.1', port }
  const listener = await world.proxy.open({
    workload: 'w',
    policy,
    listen,
    helper: world.helper,
    ...(peer ? { peer } : {}),
  })
  return { listener, port }
}

test('a listener in a helper has the policy that the host gave it, and tells the host what it decides', async () => {
  const web = await webServer()
  const world = helperWorld()
  const { port } = await openListener(world, allowing(web.port))

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

test('listeners of several workloads share one program, which ends with the last of them', async () => {
  const world = helperWorld()
  const first = await openListener(world)
  const second = await openListener(world)
  expect(world.programs).toEqual(['the program'])
  await first.listener.close()
  expect(world.running[0]?.destroyed).toBe(false)
  expect(await sendGet(first.port, 'http://app.test/')).toBe('')
  expect(statusOf(await sendGet(second.port, 'http://evil.test/'))).toBe(403)
  await second.listener.close()
  await expect.poll(() => world.running[0]?.destroyed).toBe(true)
})

test('a policy that changes counts at once', async () => {
  const web = await webServer()
  const world = helperWorld()
  const { listener, port } = await openListener(world, allowing(web.port))
  await listener.update(allowing(1))
  expect(statusOf(await sendGet(port, `http://app.test:${web.port}/`))).toBe(403)
})

test('a helper that is lost is started anew, with every listener as it was', async () => {
  const web = await webServer()
  const world = helperWorld()
  const { listener, port } = await openListener(world, allowing(1))
  await listener.update(allowing(web.port))

  world.running[0]?.destroy()
  await expect.poll(() => world.programs.length).toBe(2)
  await expect.poll(() => sendGet(port, `http://app.test:${web.port}/`).then(statusOf, () => 0)).toBe(200)
})

test('a helper that cannot be started makes the listener unusable, and says why', async () => {
  const world = helperWorld()
  const helper = { name: 'broken', run: () => Promise.reject(new Error('no room')) }
  const listen = { host: '127.0.0.1', port: await freePort() }
  const error = await world.proxy
    .open({ workload: 'w', policy: allowing(1), listen, helper })
    .catch(found => found)
  expect(isFailure(error, 'egress_listener_unusable')).toBe(true)
  expect(error.message).toContain('no room')
})

test('an address that is taken in the helper makes the listener unusable', async () => {
  const world = helperWorld()
  const taken = await listenOn(createTcpServer())
  const open = world.proxy.open({
    workload: 'w',
    policy: allowing(1),
    listen: { host: '127.0.0.1', port: taken },
    helper: world.helper,
  })
  await expect(open).rejects.toThrow('EADDRINUSE')
})

test('the host reaches the instance behind a listener, and nobody else, through the helper', async () => {
  const world = helperWorld()
  const port = await listenOn(
    createTcpServer(
      { allowHalfOpen: true },
      async socket => void socket.end(`you said ${await text(socket)}`),
    ),
  )
  const { listener } = await openListener(world, allowing(1), '127.0.0.1')
  const way = await listener.connect?.('127.0.0.1', port)
  way?.end('hello')
  expect(await text(way as Duplex)).toBe('you said hello')

  await expect(listener.connect?.('127.0.0.2', port)).rejects.toThrow('403')
  await expect(listener.connect?.('127.0.0.1', await freePort())).rejects.toThrow('ECONNREFUSED')
})

test('addresses of the machine that the host runs on are denied in the helper, too', async () => {
  const web = await webServer()
  const world = helperWorld({ forbidden: ['198.51.99.7'] })
  const everything = compilePolicy({ network: { outbound: { insecure_allow_all: true } } })
  const { port } = await openListener(world, everything)
  expect(await sendGet(port, `http://198.51.99.7:${web.port}/`)).toContain('Rule: own_address')
})
