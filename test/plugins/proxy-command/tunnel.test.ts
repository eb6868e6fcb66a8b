import { existsSync, readFileSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { isPortFree } from '../../../src/lib/ports.ts'
import { freePort } from '../../support/free-port.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { allNeed } from '../../support/left-out.ts'
import { type SshServer, sshServer } from '../../support/ssh-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { post, rpc, testServer } from '../proxy/test-proxy.ts'
import { startCommand } from './running-command.ts'

const target = () =>
  testServer((incoming, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ jsonrpc: '2.0', id: 1, result: { url: incoming.url, host: incoming.headers.host } }),
    )
  })

const sshArgs = (server: SshServer, more: object = {}) =>
  JSON.stringify({
    destination: server.destination,
    port: server.port,
    'identity-file': server.identityFile,
    'known-hosts-file': server.knownHostsFile,
    ...more,
  })

const tunnel = (to: string, provider: string, args: string) => [
  ...['tunnel', to, 'notes', '--tunnel-provider', provider],
  ...['--provider-args', args],
]

/** The status of a request with this Host header. */
const statusFor = (url: string, host: string) =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, { headers: { host } }, response => {
      response.resume()
      resolve(response.statusCode)
    })
    outgoing.on('error', reject).end()
  })

/** The processes that a process has started. */
const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

const SSHD = '/usr/sbin/sshd'

describe('ssh, with a real server', () => {
  allNeed(existsSync(SSHD) && process.getuid?.() === 0 ? undefined : `only root can run ${SSHD}`)

  test('requests to a port of the server reach the target; the end closes the port', async () => {
    const [server, origin] = [await sshServer(), await target()]
    const { url, said, end } = await startCommand(tunnel(origin, 'ssh', sshArgs(server)))
    expect(said()).toContain('Nobody has to log in: whoever knows the URL may call the server.')
    const response = await post(`${url}/mcp`, rpc('ping', 1))
    expect(await response.json()).toMatchObject({ result: { url: '/mcp', host: new URL(origin).host } })
    const port = Number(new URL(url).port)
    expect(port).not.toBe(Number(new URL(origin).port))
    await end()
    await vi.waitFor(async () => expect(await isPortFree(port)).toBe(true))
  })

  test('a request for a name that is not the tunnel is refused; that of "url" is accepted', async () => {
    const [server, origin, port] = [await sshServer(), await target(), await freePort()]
    const args = sshArgs(server, { url: 'https://notes.example', 'remote-port': port })
    const { url } = await startCommand(tunnel(origin, 'ssh', args))
    expect(url).toBe('https://notes.example')
    expect(await statusFor(`http://127.0.0.1:${port}/mcp`, 'notes.example')).toBe(200)
    expect(await statusFor(`http://127.0.0.1:${port}/mcp`, 'evil.example')).toBe(403)
  })

  test('an end of the connection ends the command with the reason', async () => {
    const [server, origin] = [await sshServer(), await target()]
    const { exited, said } = await startCommand(tunnel(origin, 'ssh', sshArgs(server)))
    await server.stop()
    expect(await exited).toBe(1)
    expect(said()).toContain('The tunnel has ended')
  })

  test.each([
    [
      'a key that may not log in',
      (server: SshServer) => ({ 'identity-file': server.otherIdentityFile }),
      'Permission denied',
    ],
    ['an unknown host', () => ({ 'known-hosts-file': '/dev/null' }), 'Host key verification failed'],
    ['a port where nothing listens', () => ({ port: 1 }), 'Connection refused'],
  ])('%s is reported in one line', async (_, change, reason) => {
    const server = await sshServer()
    const { run } = await keelsonUser()
    const args = sshArgs(server, change(server))
    const { code, stdout, stderr } = await run(['proxy', ...tunnel('http://127.0.0.1:1', 'ssh', args)])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^Error: No tunnel through .*${reason}`))
  })

  test('a server that forbids forwarding is reported', async () => {
    const server = await sshServer(['AllowTcpForwarding no'])
    const { run } = await keelsonUser()
    const { code, stderr } = await run(['proxy', ...tunnel('http://127.0.0.1:1', 'ssh', sshArgs(server))])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('remote port forwarding failed'),
    })
  })
})

describe('ngrok, with a program in its place', () => {
  /** Writes down what it was given and speaks as ngrok does. */
  async function fakeNgrok(
    script: string,
  ): Promise<{ env: Record<string, string>; given: () => Promise<string> }> {
    const folder = await temporaryFolder()
    const record = join(folder, 'given')
    const text = `#!/bin/sh\necho "$* token=$NGROK_AUTHTOKEN" > ${record}\n${script}\n`
    await writeFile(join(folder, 'ngrok'), text)
    await chmod(join(folder, 'ngrok'), 0o755)
    return {
      env: { PATH: `${folder}:${process.env.PATH}`, NGROK_AUTHTOKEN: 'planted-token' },
      given: () => readFile(record, 'utf8'),
    }
  }
  const UP = `echo '{"lvl":"info","msg":"started tunnel","url":"https://notes.ngrok.app"}'; exec sleep 60`

  test('the URL of its log is printed, and the token is in its environment only', async () => {
    const { env, given } = await fakeNgrok(UP)
    const args = '{"url":"https://notes.ngrok.app","pooling":true}'
    const { url, pid, said, end } = await startCommand(tunnel(await target(), 'ngrok', args), env)
    expect(url).toBe('https://notes.ngrok.app')
    const [command = '', token] = (await given()).trim().split(' token=')
    expect(command).toMatch(/^http http:\/\/127\.0\.0\.1:\d+ .*--inspect=false/)
    expect(command).toContain('--url https://notes.ngrok.app')
    expect(command).toContain('--pooling-enabled')
    expect(command).not.toContain('planted-token')
    expect(token).toBe('planted-token')
    expect(said()).not.toContain('planted-token')
    const [child = 0] = childrenOf(pid)
    await end()
    expect(() => process.kill(child, 0)).toThrow('ESRCH')
  })

  test('its error is the reason, without the token', async () => {
    const { env } = await fakeNgrok(
      `echo '{"lvl":"eror","msg":"session closing","err":"authentication failed: planted-token is not valid"}'; exit 1`,
    )
    const started = startCommand(tunnel(await target(), 'ngrok', '{}'), env)
    await expect(started).rejects.toThrow('ngrok opened no tunnel: authentication failed: … is not valid')
  })

  test('a dry run checks everything, starts nothing and waits', async () => {
    const { env, given } = await fakeNgrok(UP)
    const { run } = await keelsonUser()
    const args = ['proxy', ...tunnel('http://127.0.0.1:1', 'ngrok', '{"dry-run":true,"auth-token":"t"}')]
    const wrong = [...args.slice(0, -1), '{"dry-run":true,"pooling":"x"}']
    expect(await run(wrong, { env })).toMatchObject({ code: 2 })
    const started = startCommand(args.slice(1), env)
    started.catch(() => undefined) // the end of the test ends it
    await expect(
      Promise.race([started, new Promise(resolve => setTimeout(resolve, 3000, 'waits'))]),
    ).resolves.toBe('waits')
    await expect(given()).rejects.toThrow('ENOENT')
  })
})

test.each([
  [['tunnel', 'http://127.0.0.1:1', 'x'], '--tunnel-provider takes one of ngrok, ssh.'],
  [tunnel('http://127.0.0.1:1', 'ngrk', '{}'), 'Did you mean ngrok?'],
  [tunnel('http://127.0.0.1:1', 'ngrok', '[1]'), 'takes a JSON object'],
  [tunnel('http://127.0.0.1:1', 'ngrok', '{'), 'takes a JSON object'],
  [tunnel('http://127.0.0.1:1', 'ngrok', '{"nope":1}'), 'there is no member "nope"'],
  [tunnel('http://127.0.0.1:1', 'ngrok', '{"traffic-policy-file":"x.json"}'), 'ends with .yml or .yaml'],
  [tunnel('http://127.0.0.1:1', 'ssh', '{}'), '"destination" is missing'],
  [tunnel('http://127.0.0.1:1', 'ssh', '{"destination":"-oProxyCommand=x"}'), '"destination" is not valid'],
  [tunnel('ftp://x', 'ssh', '{"destination":"x"}'), 'takes an http or https URL'],
])('wrong arguments are refused before anything is opened: %j', async (args, text) => {
  const { run } = await keelsonUser()
  const { code, stderr } = await run(['proxy', ...args])
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(text) })
})

test('a workload that is unknown is no target', async () => {
  const { run } = await keelsonUser()
  const { code, stderr } = await run(['proxy', ...tunnel('nope', 'ssh', '{"destination":"x"}')])
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('There is no workload "nope"'),
  })
})
