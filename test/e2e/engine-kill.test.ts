import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { processIdentity } from '../../src/lib/process-identity.ts'
import { type Home, openHome, until } from './home.ts'
import { startLoad } from './load.ts'
import { flagsOf, leaveOut, needsPlace } from './places-to-run.ts'

// A Docker daemon of the test's own, since the machine's is in use by others: it has no network, which a
// stdio server does not need.
const repository = new URL('../..', import.meta.url).pathname
const NAME = 'e2e-engine-kill'
const add = { name: 'add', args: (n: number) => ({ a: n, b: 1 }), right: (n: number) => String(n + 1) }

interface Daemon {
  readonly host: string
  start(): Promise<void>
  kill(): Promise<void>
}

async function ownDaemon(): Promise<Daemon> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-dockerd-'))
  const host = `unix://${folder}/docker.sock`
  const answers = () => spawnSync('docker', ['--host', host, 'version'], { timeout: 10_000 }).status === 0
  const containerdPid = `${folder}/exec/containerd/containerd.pid`
  let daemon: ChildProcess | undefined
  onTestFinished(async () => {
    // The daemon ends what it started itself, its containerd too, when it is asked and not killed.
    if (daemon && daemon.exitCode === null && daemon.signalCode === null) {
      daemon.kill('SIGTERM')
      await once(daemon, 'exit')
    }
    // What the killed one had mounted is still mounted.
    const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map(line => line.split(' ')[1] ?? '')
    const ours = mounts.filter(path => path.startsWith(`${folder}/`)).reverse()
    if (ours.length > 0) spawnSync('umount', ['--lazy', ...ours])
    await rm(folder, { recursive: true, force: true })
  }, 60_000)
  return {
    host,
    async start() {
      const places = [`--data-root=${folder}/data`, `--exec-root=${folder}/exec`, `--pidfile=${folder}/pid`]
      const alone = ['--bridge=none', '--iptables=false', '--ip6tables=false']
      // Their numbers may be strangers' now, whom a new daemon would wait for.
      for (const file of [`${folder}/pid`, containerdPid]) await rm(file, { force: true })
      // In a network of its own: a daemon without a bridge removes the bridge of the machine's daemon.
      const apart = ['--net', 'dockerd', `--host=${host}`, ...places, ...alone]
      daemon = spawn('unshare', apart, { stdio: 'ignore', detached: true })
      await until(() => expect(answers()).toBe(true))
    },
    async kill() {
      if (!daemon) return
      daemon.kill('SIGKILL')
      await once(daemon, 'exit')
      const containerd = Number(await readFile(containerdPid, 'utf8')) // goes with it, but not at once
      await until(() => expect(processIdentity(containerd)).toBeUndefined())
    },
  }
}

/** The image of the Go server, built by the machine's daemon and given to the other one. */
async function giveImage(home: Home, host: string): Promise<string> {
  const image = await home.ok(['build', 'go://./fixtures/go-server', ...flagsOf('docker', 'go')], {
    cwd: repository,
  })
  const save = spawn('docker', ['save', image], { stdio: ['ignore', 'pipe', 'inherit'] })
  const load = spawn('docker', ['--host', host, 'load'], { stdio: [save.stdout, 'ignore', 'inherit'] })
  const [code] = await once(load, 'exit')
  expect(code).toBe(0)
  return image
}

test('an engine killed under load and started again: the workload answers without help', {
  timeout: 400_000,
}, async context => {
  needsPlace(context, 'docker', 'go')
  if (process.getuid?.() !== 0 || spawnSync('dockerd', ['--version']).status !== 0) {
    leaveOut(context, 'a Docker daemon of its own needs root and dockerd')
  }
  const daemon = await ownDaemon()
  await daemon.start()
  const builder = await openHome()
  onTestFinished(() => builder.close(), 60_000)
  const image = await giveImage(builder, daemon.host)

  const home = await openHome({ DOCKER_HOST: daemon.host })
  onTestFinished(() => home.close(), 60_000)
  const args = [
    'run',
    image,
    '--runtime',
    'docker',
    '--transport',
    'stdio',
    '--network',
    'none',
    '--name',
    NAME,
  ]
  const url = await home.ok(args)
  const statusNow = async () =>
    (JSON.parse(await home.ok(['status', NAME, '--format', 'json'])) as { status: string }).status
  const load = startLoad(url, 4, add)
  onTestFinished(() => load.stop())
  await until(() => expect(load.answers).toBeGreaterThan(50))

  await daemon.kill()
  await until(async () => expect(await statusNow()).toBe('unhealthy'))
  await daemon.start()

  const before = load.answers
  await until(() => expect(load.answers).toBeGreaterThan(before + 50), 150)
  await until(async () => expect(await statusNow()).toBe('running'))
  await load.stop()
  expect(load.wrong).toBe(0)
  await home.ok(['rm', NAME])
  const left = spawnSync('docker', ['--host', daemon.host, 'ps', '--all', '--quiet'], { encoding: 'utf8' })
  expect(left).toMatchObject({ status: 0, stdout: '' })
})
