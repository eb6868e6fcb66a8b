import { spawn } from 'node:child_process'
import { chown, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { needs, otherUsersProblem } from '../left-out.ts'

/** Two users of the machine who are not root and have no account: one runs keelson, the other attacks. */
export const VICTIM_UID = 47_001
export const ATTACKER_UID = 47_002

/** Options for a child process without root: where root runs the tests, that of another user. */
export const withoutRoot = (): { uid?: number; gid?: number } =>
  process.getuid?.() === 0 ? { uid: VICTIM_UID, gid: VICTIM_UID } : {}

/** Gives a folder, and all in it, to the user of `withoutRoot`. */
export async function giveToOther(folder: string): Promise<void> {
  const { uid } = withoutRoot()
  if (uid === undefined) return
  for (const name of ['', ...(await readdir(folder, { recursive: true }))])
    await chown(join(folder, name), uid, uid)
}

/** Leaves the test out, saying why, where it cannot become another user; in CI that is a failure. */
export const needsOtherUsers = (context: TestContext): void => needs(context, otherUsersProblem())

/**
 * Runs a JavaScript program as a user; answers what it printed as JSON. The program is the body of an async
 * function with `net`, `http`, `fetch` and `args` at hand; what it returns is printed.
 */
export async function runAs<T>(uid: number, body: string, args: unknown = {}): Promise<T> {
  const program = `
    import net from 'node:net'
    import http from 'node:http'
    import { once } from 'node:events'
    const args = JSON.parse(process.argv[1])
    const result = await (async () => { ${body} })()
    process.stdout.write(JSON.stringify(result ?? null), () => process.exit(0))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, JSON.stringify(args)], {
    uid,
    gid: uid,
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (!out) throw new Error(`the program of uid ${uid} printed nothing: ${err}`)
  return JSON.parse(out) as T
}

async function text(stream: NodeJS.ReadableStream): Promise<string> {
  let all = ''
  for await (const chunk of stream) all += chunk
  return all
}

/** What a request as another user was answered. */
export interface Answer {
  /** 0: the connection ended without an answer. */
  readonly status: number
  readonly body: string
}

/** Asks once as a user. */
export const askAs = (
  uid: number,
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> =>
  runAs<Answer>(
    uid,
    `try {
       const response = await fetch(args.url, args.options)
       return { status: response.status, body: await response.text() }
     } catch (error) {
       return { status: 0, body: String(error.cause ?? error) }
     }`,
    { url, options },
  )
