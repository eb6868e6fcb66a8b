import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { isPortFree } from '../../src/lib/ports.ts'
import { freePort } from './free-port.ts'

/** A real OpenSSH server on loopback with keys of its own, until the test ends. */
export interface SshServer {
  readonly port: number
  /** `user@127.0.0.1`. */
  readonly destination: string
  /** A private key that may log in. */
  readonly identityFile: string
  /** A private key that may not. */
  readonly otherIdentityFile: string
  readonly knownHostsFile: string
  /** Ends it together with all connections. */
  stop(): Promise<void>
}

export async function sshServer(more: readonly string[] = []): Promise<SshServer> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = (name: string) => join(folder, name)
  for (const name of ['host', 'user', 'other'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path(name)])
  const publicKey = async (name: string) => readFile(path(`${name}.pub`), 'utf8')
  await writeFile(path('authorized_keys'), await publicKey('user'))
  await chmod(path('authorized_keys'), 0o600)
  const port = await freePort()
  const [type, key] = (await publicKey('host')).split(' ')
  await writeFile(path('known_hosts'), `[127.0.0.1]:${port} ${type} ${key}\n`)
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${path('host')}`,
    `AuthorizedKeysFile ${path('authorized_keys')}`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    ...more,
  ]
  await writeFile(path('sshd_config'), `${settings.join('\n')}\n`)
  await mkdir('/run/sshd', { recursive: true, mode: 0o755 }) // where sshd locks its unprivileged part in
  const child = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', path('sshd_config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', chunk => {
    said += chunk
  })
  const stop = () => end(child)
  onTestFinished(stop)
  await vi.waitFor(async () => {
    if (await isPortFree(port)) throw new Error(`sshd does not listen: ${said}`)
  }, 20_000)
  return {
    port,
    destination: `${userInfo().username}@127.0.0.1`,
    identityFile: path('user'),
    otherIdentityFile: path('other'),
    knownHostsFile: path('known_hosts'),
    stop,
  }
}

/** Ends the server and the processes of its connections, which are in process groups of their own. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const exited = once(child, 'exit')
  for (const pid of descendants(child.pid)) process.kill(pid, 'SIGKILL')
  await exited
}

/** A process and all that it has started, and these in turn. */
const descendants = (pid: number): number[] => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return [pid, ...(children ? children.split(' ').flatMap(child => descendants(Number(child))) : [])]
}
