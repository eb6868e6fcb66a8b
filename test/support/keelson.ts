import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { onTestFinished } from 'vitest'
import { createEncryptedFile } from '../../plugins/secrets/encrypted-file.ts'
import { ENCRYPTED_FILE } from '../../plugins/secrets/providers/encrypted.ts'
import { findPaths } from '../../src/paths.ts'
import { COMPILED, main } from './main.ts'

/** What one run of the program showed. */
interface Shown {
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** A user of their own: an empty home folder that goes away with the test, and the program run in it. */
export interface KeelsonUser {
  readonly home: string
  /** The environment that the program gets: no variable of ours, the folder of the running Node first. */
  readonly env: Record<string, string>
  /** The user of the system that the program runs as; absent: the one that runs the tests. */
  readonly uid?: number
  /** Runs the program from its sources, as a process. */
  run(
    args: readonly string[],
    options?: { input?: string; cwd?: string; env?: Record<string, string> },
  ): Promise<Shown>
}

export async function keelsonUser({ uid }: { uid?: number } = {}): Promise<KeelsonUser> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-test-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const as = uid === undefined ? {} : { uid, gid: uid }
  if (uid !== undefined) await chown(home, uid, uid)
  const env = { HOME: home, PATH: process.env.PATH ?? '', NO_COLOR: '1', ...COMPILED }
  return {
    home,
    env,
    ...(uid === undefined ? {} : { uid }),
    async run(args, options = {}) {
      const result = await execa(process.execPath, ['--', main, ...args], {
        ...as,
        cwd: options.cwd ?? home,
        env: { ...env, ...options.env },
        extendEnv: false,
        input: options.input ?? '',
        reject: false,
        stripFinalNewline: false,
      })
      return { code: result.exitCode, stdout: result.stdout, stderr: result.stderr }
    },
  }
}

/** A user who has a place for secrets: a file under a password. */
export async function userWithSecrets(): Promise<KeelsonUser> {
  const user = await keelsonUser()
  user.env.KEELSON_SECRETS_PASSWORD = 'a password of the test'
  await keepSecrets(user.env)
  return user
}

/** Leaves in a new home whose environment has the password what `secret provider encrypted` does. */
export async function keepSecrets(env: Readonly<Record<string, string>>): Promise<void> {
  await makeSecretsFile(env)
  const { config } = findPaths(env)
  await mkdir(config, { recursive: true, mode: 0o700 })
  const settings = { secrets: { provider_type: 'encrypted', setup_completed: true } }
  await writeFile(join(config, 'config.json'), JSON.stringify(settings), { flag: 'wx', mode: 0o600 })
}

/** The least that the program reads. Usual files cost each command half a second of the processor. */
const CHEAP = { log2N: 10, r: 8, p: 1 }

/** Makes the file of a home before the program does, with a key that is cheap to derive from the password. */
export async function makeSecretsFile(
  env: Readonly<Record<string, string>>,
  password: string = env.KEELSON_SECRETS_PASSWORD ?? '',
): Promise<void> {
  const path = join(findPaths(env).data, ENCRYPTED_FILE)
  const secret = async () => password
  await createEncryptedFile({ path, secret, cost: CHEAP }).create('password')
}
