import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { processIdentity } from '../../src/lib/process-identity.ts'
import { until } from './home.ts'

/** A Docker daemon of the test's own, since the machine's is in use by others. */
export interface Daemon {
  readonly host: string
  start(): Promise<void>
  /** As a crash does. */
  kill(): Promise<void>
  /** Copies an image of the machine's daemon. */
  give(image: string): Promise<void>
  close(): Promise<void>
}

/** Why there can be none here; undefined when there can. */
export const daemonProblem = (): string | undefined =>
  process.getuid?.() === 0 && spawnSync('dockerd', ['--version']).status === 0
    ? undefined
    : 'a Docker daemon of its own needs root and dockerd'

/**
 * In a network of its own, always: without a bridge it would remove the bridge of the machine's daemon,
 * with one it would take it over. `bridge`: its networks work, and are not networks of this host.
 * `namespace` is the network to take, by the name that ip-netns(8) gave it; it outlives the daemon.
 */
export async function ownDaemon(options: { bridge: boolean; namespace?: string }): Promise<Daemon> {
  const { bridge, namespace } = options
  const folder = await mkdtemp(join(tmpdir(), 'keelson-dockerd-'))
  const host = `unix://${folder}/docker.sock`
  const answers = () => spawnSync('docker', ['--host', host, 'version'], { timeout: 10_000 }).status === 0
  const containerdPid = `${folder}/exec/containerd/containerd.pid`
  let daemon: ChildProcess | undefined
  return {
    host,
    async start() {
      const places = [`--data-root=${folder}/data`, `--exec-root=${folder}/exec`, `--pidfile=${folder}/pid`]
      const alone = bridge ? [] : ['--bridge=none', '--iptables=false', '--ip6tables=false']
      // Their numbers may be strangers' now, whom a new daemon would wait for.
      for (const file of [`${folder}/pid`, containerdPid]) await rm(file, { force: true })
      const command = `ip link set lo up; exec dockerd ${[`--host=${host}`, ...places, ...alone].join(' ')}`
      const [enter, net] = namespace ? ['nsenter', `--net=/run/netns/${namespace}`] : ['unshare', '--net']
      daemon = spawn(enter, [net, 'sh', '-c', command], { stdio: 'ignore', detached: true })
      await until(() => expect(answers()).toBe(true))
    },
    async kill() {
      if (!daemon) return
      daemon.kill('SIGKILL')
      await once(daemon, 'exit')
      const containerd = Number(await readFile(containerdPid, 'utf8')) // goes with it, but not at once
      await until(() => expect(processIdentity(containerd)).toBeUndefined())
    },
    async give(image) {
      const save = spawn('docker', ['save', image], { stdio: ['ignore', 'pipe', 'inherit'] })
      const load = spawn('docker', ['--host', host, 'load'], { stdio: [save.stdout, 'ignore', 'inherit'] })
      const [code] = await once(load, 'exit')
      expect(code).toBe(0)
    },
    async close() {
      // The daemon ends what it started itself, its containerd too, when it is asked and not killed.
      if (daemon && daemon.exitCode === null && daemon.signalCode === null) {
        daemon.kill('SIGTERM')
        await once(daemon, 'exit')
      }
      // What the killed one had mounted is still mounted.
      const mounts = (await readFile('/proc/mounts', 'utf8'))
        .split('\n')
        .map(line => line.split(' ')[1] ?? '')
      const ours = mounts.filter(path => path.startsWith(`${folder}/`)).reverse()
      if (ours.length > 0) spawnSync('umount', ['--lazy', ...ours])
      await rm(folder, { recursive: true, force: true })
    },
  }
}
