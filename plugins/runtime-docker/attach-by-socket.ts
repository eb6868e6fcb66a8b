import type { IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import * as t from 'typanion'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { messageOf } from '../../src/errors.ts'
import { type AttachOptions, START_MS } from './attach-options.ts'
import { diagnose } from './diagnose.ts'
import type { OpenCall } from './engine-cli.ts'
import { call, messageIn, readBody } from './engine-socket.ts'
import { splitStreams } from './split-streams.ts'

const open = { extra: t.isUnknown() }
const exit = t.isObject({ StatusCode: t.isNumber() }, open)

const CONNECT_MS = 10_000
/** How long after the end of its streams the exit of an instance may be reported, in milliseconds. */
const LAG_MS = 5000

/**
 * Starts a stopped instance over the engine's socket, whose connection then holds the standard streams. Undefined if that
 * is not possible and nothing was started: the engine is elsewhere, or this user may not open the socket. The id is random,
 * so an engine other than that of the program does not know it.
 */
export async function attachBySocket(options: AttachOptions): Promise<OpenCall | undefined> {
  const { dialect, env, before } = options
  const path = dialect.socket?.(env)
  if (path === undefined) return undefined
  const place = `/containers/${encodeURIComponent(before.id)}`
  const streams = 'stream=1&stdin=1&stdout=1&stderr=1'
  const [attached, waiting] = await Promise.allSettled([
    call(path, 'POST', `${place}/attach?${streams}`, { timeoutMs: CONNECT_MS, upgrade: true }),
    // Asked before the start, so that no exit is missed.
    call(path, 'POST', `${place}/wait?condition=next-exit`, { timeoutMs: CONNECT_MS }),
  ])
  const connection = attached.status === 'fulfilled' ? attached.value.upgraded : undefined
  const exited = waiting.status === 'fulfilled' ? waiting.value.response : undefined
  const kill = () => {
    for (const one of [attached, waiting]) if (one.status === 'fulfilled') one.value.close()
  }
  if (!connection || exited?.statusCode !== 200) {
    kill()
    return undefined
  }
  const { socket, head } = connection
  const closed = new Promise<undefined>(resolve => socket.once('close', () => resolve(undefined)))
  if (head.length > 0) socket.unshift(head)
  const { stdout, stderr, dropUnread } = splitStreams(socket)
  try {
    await start(path, `${place}/start`, options)
  } catch (error) {
    kill()
    throw error
  }
  const ended = Promise.race([
    readExit(exited).then(code => code ?? closed),
    closed.then(() => delay(LAG_MS, undefined, { ref: false })),
  ])
  return { stdin: socket, stdout, stderr, ended, dropUnread, kill }
}

async function start(socketPath: string, path: string, { dialect, before }: AttachOptions): Promise<void> {
  const { name } = before
  const { response } = await call(socketPath, 'POST', path, { timeoutMs: START_MS }).catch(error => {
    const problem = `it did not start "${name}": ${messageOf(error)}.`
    throw runtimeFailures.runtime_unavailable({ runtime: dialect.name, problem }, { cause: error })
  })
  const body = await readBody(response)
  if ((response.statusCode ?? 0) < 400) return
  throw diagnose(dialect, messageIn(body) ?? body, { doing: `start "${name}"`, name })
}

/** The exit code that `wait` reports; undefined when its connection broke before. */
async function readExit(response: IncomingMessage): Promise<number | undefined> {
  const said = parse(await readBody(response).catch(() => ''))
  return exit(said) ? said.StatusCode : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
