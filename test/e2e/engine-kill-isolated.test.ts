import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { needs } from '../support/left-out.ts'
import { main } from '../support/main.ts'
import { openHome, until } from './home.ts'
import { daemonProblem, ownDaemon } from './own-daemon.ts'
import { needsPlace } from './places-to-run.ts'

// An engine that is killed while an isolated workload runs, and started again: on this host's side of a
// network of its own, where the egress proxy listens at the gateway, and from outside of it, where it runs in the helper.

const fixture = new URL('../../fixtures/isolation', import.meta.url).pathname
const IMAGE = 'keelson-test/node:24'

/** Calls a tool of the server, as a client at the same place would; prints its text. */
const CALL = `
const [url, name, args] = process.argv.slice(1)
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: JSON.parse(args) } })
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(15000) })
console.log(JSON.parse((await answer.text()).replace(/^event:.*\\ndata: /, '')).result.content[0].text)
`

/** Listens on all addresses, as a service of the engine's host. */
const SERVICE = `require('node:net').createServer(it => it.end('open')).listen(0, '0.0.0.0', function () {
  console.log(this.address().port)
})`

function needsDaemon(context: TestContext): void {
  needsPlace(context, 'docker')
  needs(context, daemonProblem())
}

async function killAndStartAgain({ isHere, name }: { isHere: boolean; name: string }): Promise<void> {
  const namespace = `keelson-${name}`
  spawnSync('ip', ['netns', 'add', namespace])
  onTestFinished(() => void spawnSync('ip', ['netns', 'del', namespace]))
  const within = (command: string, ...args: string[]): [string, string[]] => [
    'nsenter',
    [`--net=/run/netns/${namespace}`, command, ...args],
  ]
  const daemon = await ownDaemon({ bridge: true, namespace })
  onTestFinished(() => daemon.close(), 60_000)
  await daemon.start()
  await daemon.give(IMAGE)
  const service = execa(...within(process.execPath, '-e', SERVICE))
  service.catch(() => undefined)
  onTestFinished(() => void service.kill())
  const port = String((await service.iterable()[Symbol.asyncIterator]().next()).value)

  const home = await openHome({ DOCKER_HOST: daemon.host, KEELSON_HELPER_IMAGE: IMAGE })
  onTestFinished(() => home.close(), 60_000)
  const profile = join(home.path, 'profile.json')
  await writeFile(profile, JSON.stringify({ network: { outbound: { allow_host: ['allowed.example'] } } }))
  const place = (command: string, ...args: string[]): [string, string[]] =>
    isHere ? within(command, ...args) : [command, args]
  const options = { env: home.env, extendEnv: false, cwd: home.path }
  const run = ['run', '--runtime', 'docker', '--name', name, '--transport', 'streamable-http']
  const { stdout: url } = await execa(
    ...place(
      process.execPath,
      '--',
      main,
      ...run,
      '--permission-profile',
      profile,
      '-v',
      `${fixture}:/srv:ro`,
      IMAGE,
      '--',
      'node',
      '/srv/server.mjs',
    ),
    options,
  )
  const call = async (tool: string, args: object): Promise<string> =>
    (
      await execa(
        ...place(process.execPath, '--input-type=module', '-e', CALL, url, tool, JSON.stringify(args)),
      )
    ).stdout
  const answers = async () => expect(await call('env', {})).toContain('HTTP_PROXY')
  const isClosed = async () => {
    const { HTTP_PROXY = '' } = JSON.parse(await call('env', {})) as Record<string, string>
    const gateway = new URL(HTTP_PROXY).hostname.replace(/\d+$/, last => String((Number(last) & ~7) | 1))
    const targets = [gateway, '172.17.0.1', '8.8.8.8'].map(host => ({ host, port: Number(port) }))
    const found = JSON.parse(await call('scan', { targets })) as string[]
    expect(found.filter(text => !/^shut: /.test(text))).toEqual([])
    const send = 'GET http://denied.example/ HTTP/1.1\r\nHost: denied.example\r\nConnection: close\r\n\r\n'
    expect(await call('proxy', { send })).toMatch(/^HTTP\/1\.1 403/)
  }
  await answers()
  await isClosed()

  await daemon.kill()
  await daemon.start()

  await until(answers, 150)
  await until(isClosed, 30)
  const network = (await execa('docker', ['network', 'ls', '--format', '{{.Name}}'], options)).stdout
  expect(network.split('\n').filter(line => line.startsWith('keelson-'))).toHaveLength(1)

  await home.ok(['rm', name])
  const ask = async (...args: string[]) => (await execa('docker', args, options)).stdout
  expect(await ask('ps', '--all', '--format', '{{.Names}}')).toBe('')
  expect(await ask('network', 'ls', '--format', '{{.Name}}')).not.toContain('keelson-')
  expect((await execa(...within('iptables', '-t', 'mangle', '-S'))).stdout).not.toContain('KEELSON')
}

test('the egress proxy at the gateway survives a kill of the engine', { timeout: 400_000 }, async context => {
  needsDaemon(context)
  await killAndStartAgain({ isHere: true, name: 'kill-gateway' })
})

test('the egress proxy in the helper survives a kill of the engine', { timeout: 400_000 }, async context => {
  needsDaemon(context)
  await killAndStartAgain({ isHere: false, name: 'kill-helper' })
})
