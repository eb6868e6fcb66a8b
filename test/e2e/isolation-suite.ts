import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest'
import { corpusNames, corpusProfile, type EscapeWorld, escapeCorpus } from '../plugins/egress/corpus.ts'
import { freePort } from '../support/free-port.ts'
import { leaveOut } from '../support/left-out.ts'
import { clientV1, textOf } from './clients.ts'
import { type IsolationWorld, linkLocals } from './isolation-world.ts'
import type { Place } from './places-to-run.ts'

// A real server in a real container (or sandbox) that tries to get out: fixtures/isolation/server.mjs.

/** Node's own client asks for a tunnel and does not show why it was refused. */
const DENIED = /^(?:403 keelson: |error: Request was cancelled)/
const NOBODY = '172.30.0.1'

/** What isolation is, wherever it is held. `id` is part of the names of workloads. */
export function isolationSuite(
  place: Place,
  {
    id,
    open,
    needs,
  }: { id: string; open: () => Promise<IsolationWorld>; needs: (context: TestContext) => void },
): void {
  let world: IsolationWorld
  let url = ''
  let about: EscapeWorld

  const call = async (tool: string, args: Record<string, unknown> = {}, at = url): Promise<string> => {
    const client = await clientV1(at)
    return textOf(await client.callTool({ name: tool, arguments: args }))
  }
  const envOf = async (at: string) => JSON.parse(await call('env', {}, at)) as Record<string, string>
  const listenerOf = async (at: string) => {
    const { hostname, port } = new URL((await envOf(at)).HTTP_PROXY ?? '')
    return { host: hostname, port: Number(port) }
  }
  const addressOf = async (name: string): Promise<string> => {
    const access = (await world.runtime.inspect(name))?.portAccess
    return access && 'address' in access ? access.address : NOBODY
  }

  beforeAll(async () => {
    world = await open()
  }, 300_000)
  afterAll(() => world?.close(), 120_000)

  test('two isolated servers start and respond', async context => {
    needs(context)
    const { allowed } = world
    const start = { allowed, gateway: '', otherWorkload: '', hostAddress: world.hostAddress }
    const profile = corpusProfile({ ...start, listener: allowed, otherListener: allowed })
    const [first, second] = await Promise.all([
      world.run(`ki-one-${id}`, profile),
      world.run(`ki-two-${id}`, profile),
    ])
    url = first
    const listener = await listenerOf(first)
    about = {
      ...start,
      listener,
      otherListener: await listenerOf(second),
      gateway: place === 'process' ? NOBODY : listener.host,
      otherWorkload: await addressOf(`ki-two-${id}`),
    }
    await world.setNames(corpusNames(about))
  })

  test('every request of the corpus that must be denied is denied, and the allowed ones pass', async context => {
    needs(context)
    const client = await clientV1(url)
    const wrong: string[] = []
    const corpus = escapeCorpus(about)
    expect(corpus.length).toBeGreaterThanOrEqual(80)
    let passed = 0
    await world.forget()
    for (const { title, request, expect: wanted } of corpus) {
      if (!world.elsewhere) await world.forget()
      world.dialled.length = 0
      const send =
        'raw' in request
          ? request.raw
          : request.method === 'CONNECT'
            ? `CONNECT ${request.url} HTTP/1.1\r\nHost: ${request.url}\r\n\r\n`
            : `GET ${request.url} HTTP/1.1\r\nHost: ${/^http:\/\/([^/]*)/.exec(request.url)?.[1]}\r\nConnection: close\r\n\r\n`
      const end = 'raw' in request || request.method === 'CONNECT'
      const answer = textOf(await client.callTool({ name: 'proxy', arguments: { send, end } }))
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
      const where = `${world.allowed.host}:${world.allowed.port}`
      if (status === 200 && world.elsewhere) {
        await expect.poll(() => world.dialled.length, { timeout: 5000 }).toBeGreaterThan(0)
        if (!title.includes('tunnel') && request && 'method' in request && request.method === 'GET') passed++
      }
      const asWanted =
        wanted === 'allowed'
          ? status === 200 &&
            world.dialled.every(place => place === where) &&
            world.dialled.length + world.web.seen.length > 0
          : status >= 400 && world.dialled.length + world.web.seen.length + world.services.seen.length === 0
      if (!asWanted) wrong.push(`${title}: ${status}, connected to ${world.dialled.join() || 'nothing'}`)
    }
    expect(wrong).toEqual([])
    if (world.elsewhere) expect((await world.elsewhere.outside.told()).seen).toHaveLength(passed)
  })

  test('past the proxy nothing can be connected to', async context => {
    needs(context)
    await world.forget()
    const { tcp } = world.services
    const hosts = [
      about.gateway,
      about.listener.host,
      world.hostAddress,
      '172.17.0.1',
      '10.88.0.1',
      about.otherListener.host,
      'host.docker.internal',
      'host.containers.internal',
      ...linkLocals().flatMap(address => ['eth0', 'lo'].map(zone => `${address}%${zone}`)),
    ]
    const targets = [
      ...hosts.map(host => ({ host, port: tcp })),
      ...(place === 'process' ? [] : [{ host: '127.0.0.1', port: tcp }]),
      { host: about.gateway, port: 22 },
      { host: world.hostAddress, port: world.web.port },
      { host: about.otherWorkload, port: 80 },
      ...(place === 'process' ? [] : [about.otherListener]),
      { host: '8.8.8.8', port: 53 },
      { host: '1.1.1.1', port: 443 },
      { host: '169.254.169.254', port: 80 },
      { host: '2606:4700::1111', port: 443 },
      { host: 'example.com', port: 80 },
      { path: '/var/run/docker.sock' },
      { path: '/run/podman/podman.sock' },
      { path: '\0/tmp/.X11-unix/X0' },
    ]
    const answers = JSON.parse(await call('scan', { targets })) as string[]
    expect(
      answers.map((text, i) => `${JSON.stringify(targets[i])} ${text}`).filter(text => !/ shut: /.test(text)),
    ).toEqual([])
    expect(world.services.seen).toEqual([])
    expect(world.dialled).toEqual([])
  })

  test('no name server can be asked, whether by name, by address or through the runtime', async context => {
    needs(context)
    await world.forget()
    const { dns } = world.services
    const query = '123401000001000000000000067365637265740465766c6c0000100001'
    const answers = await Promise.all([
      call('resolve', { name: 'secret.exfil.test' }),
      call('resolve', { name: 'secret.exfil.test', server: `${world.hostAddress}:${dns}` }),
      call('resolve', { name: 'secret.exfil.test', server: `${about.gateway}:${dns}` }),
      call('resolve', { name: 'secret.exfil.test', server: '127.0.0.11' }),
      call('resolve', { name: 'secret.exfil.test', server: '8.8.8.8' }),
      call('udp', { host: world.hostAddress, port: dns, send: query }),
      call('udp', { host: about.gateway, port: dns, send: query }),
      call('udp', { host: about.gateway, port: about.listener.port, send: query }),
      call('udp', { host: '8.8.8.8', port: 53, send: query }),
      call('udp', { host: '255.255.255.255', port: dns, send: query }),
      call('udp', { host: 'ff02::1', port: dns, send: query }),
    ])
    for (const answer of answers) expect(answer).toMatch(/^(?:error: |silence|E[A-Z]+)/)
    expect(world.services.seen).toEqual([])
    expect(world.asked).toEqual([])
  })

  test('the network cannot be changed from inside, nor raw sockets opened', async context => {
    needs(context)
    for (const command of [
      'ip route add default via 10.0.0.1',
      'ip link set eth0 down',
      'ping -c 1 -W 1 8.8.8.8',
      'echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6',
      'unshare -n true',
    ]) {
      expect(await call('shell', { command: `${command} && echo done` }), command).not.toMatch(/done$/m)
    }
  })

  test('a program that honours the proxy reaches the one allowed place and nothing else', async context => {
    needs(context)
    await world.forget()
    // NO_PROXY names 127.0.0.1, so the allowed name stands for it.
    expect(await call('fetch', { url: `http://allowed.test:${world.allowed.port}/hi` })).toBe('200 hello')
    const seen = async () => (await world.elsewhere?.outside.told())?.seen ?? world.web.seen
    expect(await seen()).toEqual(['GET /hi'])
    expect(await call('fetch', { url: `http://evil.test:${world.web.port}/` })).toMatch(DENIED)
    expect(await call('fetch', { url: 'https://evil.test/' })).toMatch(/^error: /)
    expect(await seen()).toHaveLength(1)
  })

  test('a denial is one line of the log, with the line to add', async context => {
    needs(context)
    await call('fetch', { url: `http://logged.test:${world.allowed.port}/` })
    await call('fetch', { url: `http://logged.test:${world.allowed.port}/` })
    const denials = world.lines.filter(line => line.host === 'logged.test')
    expect(denials).toHaveLength(1)
    expect(denials[0]).toMatchObject({
      msg: 'egress denied',
      workload: `ki-one-${id}`,
      rule: 'not_in_allow_host',
      add: [expect.stringContaining('"logged.test"')],
    })
  })

  test('proxy variables of the user do not lead past the listener', async context => {
    needs(context)
    const own = { HTTP_PROXY: 'http://192.0.2.9:1', https_proxy: 'http://192.0.2.9:1', NO_PROXY: '*' }
    const at = await world.run(`ki-env-${id}`, undefined, { env_vars: own })
    const { HTTP_PROXY, HTTPS_PROXY, http_proxy, https_proxy, NO_PROXY, no_proxy } = await envOf(at)
    expect(new Set([HTTP_PROXY, HTTPS_PROXY, http_proxy, https_proxy]).size).toBe(1)
    expect(HTTP_PROXY).not.toContain('192.0.2.9')
    expect([NO_PROXY, no_proxy]).toEqual(['localhost,127.0.0.1,::1', 'localhost,127.0.0.1,::1'])
    await world.host.remove(`ki-env-${id}`)
  })

  test('hidden paths show nothing and cannot be uncovered', async context => {
    needs(context)
    const folder = await mkdtemp(join(tmpdir(), 'ki-data-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await mkdir(join(folder, 'sub', 'secrets'), { recursive: true })
    await writeFile(join(folder, '.keelsonignore'), '.env\nsecrets/\nlinked\n')
    await writeFile(join(folder, 'behind'), 'hidden-two')
    await symlink('behind', join(folder, 'linked'))
    await symlink('../.env', join(folder, 'sub', 'way'))
    await writeFile(join(folder, '.env'), 'TOKEN=hidden-one')
    await writeFile(join(folder, 'sub', 'secrets', 'key'), 'hidden-two')
    await writeFile(join(folder, 'sub', 'open'), 'visible')
    world.elsewhere?.share?.(folder)
    const name = `ki-hide-${id}`
    const at = await world.run(name, undefined, { volumes: [`${folder}:/data`] })
    const shell = (command: string) => call('shell', { command }, at)

    expect(await shell('cat /data/sub/open')).toBe('visible')
    const reads = [
      'cat /data/.env',
      'cat /data/sub/secrets/key',
      'cat /data/linked /data/behind /data/sub/way',
      'cp -L /data/linked /tmp/copy; cat /tmp/copy; rm /data/linked; ln -s behind /data/linked; cat /data/linked',
      'ls -A /data/sub/secrets',
      'umount /data/.env; umount -l /data/sub/secrets; cat /data/.env /data/sub/secrets/key',
      'mount -o remount,rw /data/sub/secrets; touch /data/sub/secrets/new && echo written',
      'mv /data/sub /data/moved; cat /data/moved/secrets/key; mv /data/moved /data/sub',
      'mv /data/.env /data/env; cat /data/env',
      'rm -f /data/.env; cat /data/.env',
      'ln /data/.env /data/hard; cat /data/hard',
      'echo new > /data/.env; cat /data/.env',
      'mkdir /tmp/m; mount --bind /data /tmp/m; cat /tmp/m/.env',
      'cat /proc/1/root/data/.env; cat /proc/self/root/data/sub/secrets/key',
      'unshare -rm sh -c "umount /data/.env; cat /data/.env"',
    ]
    for (const command of reads) {
      expect(await shell(command), command).not.toMatch(/hidden-(?:one|two)|written/)
    }
    expect(await readFile(join(folder, '.env'), 'utf8')).toBe('TOKEN=hidden-one')
    expect(await readFile(join(folder, 'sub', 'secrets', 'key'), 'utf8')).toBe('hidden-two')
    await world.host.remove(name)
  })

  test('a stdio server is isolated too', async context => {
    needs(context)
    const name = `ki-stdio-${id}`
    const nothing = { name: 'none', network: { outbound: {} } }
    const at = await world.run(name, nothing, { transport: 'stdio' })
    expect(await call('fetch', { url: `http://allowed.test:${world.allowed.port}/` }, at)).toMatch(DENIED)
    await world.host.remove(name)
  })

  test('a published port of this host leads in', async context => {
    needs(context)
    const name = `ki-publish-${id}`
    const [outside, inside] = [await freePort(), await freePort()]
    await world.run(name, undefined, { target_port: inside, publish: [`${outside}:${inside}`] })
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    const ask = () => fetch(`http://127.0.0.1:${outside}/`, { method: 'POST', body }).then(it => it.text())
    expect(await Promise.all(Array.from({ length: 20 }, ask))).toEqual(
      Array(20).fill('{"jsonrpc":"2.0","id":1,"result":{}}'),
    )
    await world.host.remove(name)
    await expect(ask()).rejects.toThrow()
  })

  test('a killed server is restarted with the same egress listener', async context => {
    needs(context)
    const name = `ki-one-${id}`
    const before = await listenerOf(url)
    await world.runtime.stop(name, { graceSeconds: 0 })
    await expect.poll(() => call('env').catch(() => ''), { timeout: 30_000 }).toContain('HTTP_PROXY')
    expect(await listenerOf(url)).toEqual(before)
    expect(await call('fetch', { url: `http://allowed.test:${world.allowed.port}/` })).toBe('200 hello')
    await expect.poll(async () => (await world.store.statuses.read(name))?.status).toBe('running')
  })

  test('no helper container is made on this host; on another host one is made, and again after it was removed', async context => {
    needs(context)
    if (place === 'process') leaveOut(context, 'the process runtime has no containers')
    const id = world.helper('inspect', '--format', '{{.Id}}')
    expect(id).toMatch(world.elsewhere ? /^[0-9a-f]{64}$/ : /^$/)
    if (world.elsewhere) world.helper('rm', '--force')
    const there = { url: `http://allowed.test:${world.allowed.port}/` }
    await expect.poll(() => call('fetch', there).catch(() => ''), { timeout: 60_000 }).toBe('200 hello')
    expect(await call('fetch', { url: `http://evil.test:${world.allowed.port}/` })).toMatch(DENIED)
    if (world.elsewhere) expect(world.helper('inspect', '--format', '{{.Id}}')).not.toBe(id)
  })

  test('the next supervisor opens the same listeners for servers that kept running', async context => {
    needs(context)
    const before = await listenerOf(url)
    const container = (await world.runtime.inspect(`ki-one-${id}`))?.id
    await world.host.close({ handover: true })
    const successor = world.nextHost()
    await successor.adopt()
    expect(await listenerOf(url)).toEqual(before)
    expect((await world.runtime.inspect(`ki-one-${id}`))?.id).toBe(container)
    expect(await call('fetch', { url: `http://allowed.test:${world.allowed.port}/` })).toBe('200 hello')
    expect(await call('fetch', { url: `http://evil.test:${world.web.port}/` })).toMatch(DENIED)

    await successor.stop(`ki-two-${id}`)
    expect((await world.remains()).filter(what => what.includes(`ki-two-${id}`))).toEqual([])
    await successor.start(`ki-two-${id}`)
    await Promise.all([successor.remove(`ki-one-${id}`), successor.remove(`ki-two-${id}`)])
    expect(await world.remains()).toEqual([])
  })

  test('the next adoption removes what a killed host has left', async context => {
    needs(context)
    await world.runtime.isolation?.prepare('ki-lost', { workload: 'ki-lost' })
    expect(await world.remains()).not.toEqual([])
    await world.nextHost().adopt()
    expect(await world.remains()).toEqual([])
  })

  test('workloads that start and stop at once do not break each other', async context => {
    needs(context)
    const host = world.nextHost()
    const names = [1, 2, 3, 4].map(n => `ki-many-${n}-${id}`)
    const profile = { network: { outbound: { allow_host: ['allowed.test', world.allowed.host] } } }
    for (const name of names) await world.save(name, profile)
    await Promise.all(names.map(name => host.start(name)))
    await Promise.all(names.slice(0, 2).map(name => host.stop(name)))
    for (const name of names.slice(2)) {
      const { port } = await world.store.configs.get(name)
      const at = `http://127.0.0.1:${port}/mcp`
      expect(await call('fetch', { url: `http://allowed.test:${world.allowed.port}/` }, at)).toBe('200 hello')
    }
    await Promise.all(names.map(name => host.remove(name)))
    expect(await world.remains()).toEqual([])
  })
}
