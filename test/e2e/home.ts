import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { vi } from 'vitest'
import { supervisorPaths } from '../../plugins/supervisor/control-protocol.ts'
import { findSupervisor } from '../../plugins/supervisor/find-supervisor.ts'
import { processIdentity } from '../../src/lib/process-identity.ts'
import { findPaths } from '../../src/paths.ts'
import { COMPILED, main } from '../support/main.ts'

/** Certificates that package registries are reached with where a proxy re-signs TLS. */
export const CA = process.env.SSL_CERT_FILE ?? '/etc/ssl/certs/ca-certificates.crt'

/** What one run of the program showed. */
export interface Shown {
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

interface RunSettings {
  readonly env?: Record<string, string>
  readonly cwd?: string
  /** Standard input; without it there is none. */
  readonly input?: string
}

/** A home folder for several tests, the real program in it, and the supervisor that it starts. */
export interface Home {
  readonly path: string
  readonly env: Record<string, string>
  /** Runs the program to its end. */
  keelson(args: readonly string[], options?: RunSettings): Promise<Shown>
  /** The same, failing when it does; answers standard output. */
  ok(args: readonly string[], options?: RunSettings): Promise<string>
  /** Starts the program and does not wait for it. */
  start(args: readonly string[], options?: { cwd?: string }): ChildProcess
  /** Process number of the supervisor; 0 when none answers. */
  supervisor(): Promise<number>
  /** Kills the supervisor together with the processes that it started, as a loss of power does. */
  powerOff(): Promise<void>
  /** Removes all workloads, ends the supervisor, deletes the folder. */
  close(): Promise<void>
  /** The same where all workloads are remote: nothing of them outlives the supervisor and the folder. */
  closeRemote(): Promise<void>
}

export async function openHome(
  more: Readonly<Record<string, string>> = {},
  program: string = main,
): Promise<Home> {
  const path = await mkdtemp(join(tmpdir(), 'keelson-e2e-'))
  const env: Record<string, string> = {
    HOME: path,
    PATH: process.env.PATH ?? '',
    NO_COLOR: '1',
    ...COMPILED,
    ...more,
  }
  if (existsSync(CA)) Object.assign(env, { NODE_EXTRA_CA_CERTS: CA, SSL_CERT_FILE: CA, PIP_CERT: CA })

  const home: Home = {
    path,
    env,
    async keelson(args, options = {}) {
      const result = await execa(process.execPath, ['--', program, ...args], {
        cwd: options.cwd ?? path,
        env: { ...env, ...options.env },
        extendEnv: false,
        ...(options.input === undefined ? { stdin: 'ignore' } : { input: options.input }),
        reject: false,
      })
      return { code: result.exitCode, stdout: result.stdout, stderr: result.stderr }
    },
    async ok(args, options) {
      const { code, stdout, stderr } = await home.keelson(args, options)
      if (code !== 0) throw new Error(`keelson ${args.join(' ')} ended with ${code}:\n${stderr}`)
      return stdout
    },
    start: (args, options = {}) =>
      spawn(process.execPath, ['--', program, ...args], {
        cwd: options.cwd ?? path,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    supervisor: async () => (await findSupervisor(supervisorPaths(findPaths(env))))?.info.pid ?? 0,
    async powerOff() {
      const pid = await home.supervisor()
      if (!pid) throw new Error('no supervisor runs')
      process.kill(pid, 'SIGSTOP') // it starts nothing from here on
      const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim()
      for (const child of children ? children.split(' ') : []) process.kill(Number(child), 'SIGKILL')
      process.kill(pid, 'SIGKILL')
    },
    async close() {
      const removed = await home.keelson(['rm', '--all'])
      await home.closeRemote()
      if (removed.code !== 0) throw new Error(`rm --all failed:\n${removed.stderr}`)
    },
    async closeRemote() {
      const pid = await home.supervisor()
      if (pid) process.kill(pid, 'SIGTERM')
      await until(() => {
        if (processIdentity(pid)) throw new Error(`supervisor ${pid} does not end`)
      })
      await rm(path, { recursive: true, force: true })
    },
  }
  return home
}

/** Tries again until the check passes; fails as it last did. */
export const until = <T>(check: () => T | Promise<T>, seconds = 60): Promise<T> =>
  vi.waitFor(check, { timeout: seconds * 1000, interval: 100 })
