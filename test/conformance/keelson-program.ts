import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { createEncryptedFile } from '../../plugins/secrets/encrypted-file.ts'
import { ENCRYPTED_FILE } from '../../plugins/secrets/providers/encrypted.ts'
import { createWorkloadStore } from '../../plugins/state/workload-store.ts'
import { supervisorPaths } from '../../plugins/supervisor/control-protocol.ts'
import { findSupervisor } from '../../plugins/supervisor/find-supervisor.ts'
import { findFreePort } from '../../src/lib/ports.ts'
import { createLog } from '../../src/log.ts'
import { findPaths } from '../../src/paths.ts'
import { main } from '../support/main.ts'

/** The document that the suite expects where a server reads client metadata documents. */
const CLIENT_METADATA = 'https://conformance-test.local/client-metadata.json'
const PASSWORD = 'only for tests'
const NAME = 'suite'
/** How long the status may take to show that a login is needed, in milliseconds. */
const SHOWN_MS = 10_000
const QUIET = createLog({ write: () => undefined, human: false, debug: false })

/** keelson in front of the server of a scenario, in a home folder of its own. */
export interface Program {
  /** Where the program listens. */
  readonly url: string
  /** Asks for another login, as a user does whose workload shows `unauthenticated`. */
  logInAgain(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts `keelson proxy`, or with `kept` a workload, for which a user can log in again. The script follows the
 * redirects of the addresses that the program prints. Throws when it ends with a failure.
 */
export async function startProgram(
  target: string,
  { kept, client }: { kept: boolean; client: { id?: string | undefined; secret?: string | undefined } },
): Promise<Program> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-conformance-home-'))
  const env = { HOME: home, PATH: process.env.PATH ?? '', NO_COLOR: '1', KEELSON_SECRETS_PASSWORD: PASSWORD }
  const begin = (args: readonly string[]): ChildProcess => start(args, { home, env })
  const ok = async (...args: string[]) => assertEnded(args, await ended(begin(args)))
  const file = join(findPaths(env).data, ENCRYPTED_FILE)
  const cost = { log2N: 10, r: 8, p: 1 }
  await createEncryptedFile({ path: file, secret: async () => PASSWORD, cost }).create('password')
  await ok('secret', 'provider', 'encrypted')
  await ok('config', 'set-client-metadata-url', CLIENT_METADATA)

  const login = ['--remote-auth-skip-browser', '--remote-auth-callback-port', String(await findFreePort())]
  if (client.id !== undefined) login.push('--remote-auth-client-id', client.id)
  if (client.secret !== undefined) {
    await writeFile(join(home, 'client-secret'), client.secret, { mode: 0o600 })
    login.push('--remote-auth-client-secret-file', join(home, 'client-secret'))
  }
  const child = begin(
    kept ? ['run', target, '--name', NAME, ...login] : ['proxy', NAME, '--target-uri', target, ...login],
  )
  return {
    url: await firstLine(child),
    async logInAgain() {
      const statuses = createWorkloadStore({ paths: findPaths(env), log: QUIET }).statuses
      const deadline = Date.now() + SHOWN_MS
      while ((await statuses.read(NAME))?.status !== 'unauthenticated' && Date.now() < deadline)
        await delay(50)
      await ok('auth', 'login', NAME, '--skip-browser')
    },
    async close() {
      child.kill('SIGTERM')
      if (kept) await ok('rm', NAME)
      const supervisor = await findSupervisor(supervisorPaths(findPaths(env)))
      if (supervisor) process.kill(supervisor.info.pid, 'SIGTERM')
      await ended(child)
      await rm(home, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Starts the program, and opens the addresses that it prints as a browser would. */
function start(
  args: readonly string[],
  { home, env }: { home: string; env: Record<string, string> },
): ChildProcess {
  const child = spawn(process.execPath, ['--', main, ...args], {
    cwd: home,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  createInterface({ input: child.stderr }).on('line', line => {
    process.stderr.write(`${line}\n`)
    if (line.startsWith('http')) void fetch(line.trim()).then(response => response.text())
  })
  return child
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

function assertEnded(args: readonly string[], code: number | null): void {
  if (code !== 0) throw new Error(`keelson ${args.join(' ')} ended with ${code}`)
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the program has no output')
  const line = once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text))
  const code = ended(child).then(number => {
    throw new Error(`the program ended with ${number}`)
  })
  code.catch(() => undefined)
  return Promise.race([line, code])
}
