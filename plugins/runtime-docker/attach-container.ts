import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { Attachment, Exit, Instance } from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import { diagnose } from './diagnose.ts'
import type { Dialect } from './dialect.ts'
import type { EngineCli, OpenCall } from './engine-cli.ts'

const START_MS = 60_000

/**
 * Starts a stopped instance through a program that holds its standard streams. Returns once the instance
 * runs or has run. The program ends with the instance, so its end shows without polling.
 *
 * Closing the attachment ends the instance's standard input, since the engine closes it with its one holder.
 * A server that reads its input then ends; nothing else stops it.
 */
export async function attachInstance(options: {
  dialect: Dialect
  cli: EngineCli
  before: Pick<Instance, 'id' | 'name' | 'startedAt'>
  inspect: () => Promise<Instance | undefined>
  /** Returns what the engine prints for `infoArguments`. */
  info: unknown
}): Promise<Attachment> {
  const { dialect, cli, before, inspect, info } = options
  const args = ['start', '--attach', '--interactive', ...dialect.attachArguments(info), '--', before.id]
  const call = cli.open(args)
  try {
    await untilStarted(call, options)
  } catch (error) {
    call.kill()
    throw error
  }
  return {
    stdin: call.stdin,
    stdout: call.stdout,
    stderr: call.stderr,
    exit: call.ended.then(code => describeExit(code, inspect)),
    detach: call.kill,
  }
}

async function untilStarted(
  call: OpenCall,
  {
    dialect,
    before,
    inspect,
  }: {
    dialect: Dialect
    before: Pick<Instance, 'name' | 'startedAt'>
    inspect: () => Promise<Instance | undefined>
  },
): Promise<void> {
  const { name } = before
  const hasStarted = (now: Instance | undefined) =>
    now?.startedAt !== undefined && now.startedAt.getTime() !== before.startedAt?.getTime()
  const deadline = Date.now() + START_MS
  let over = false
  void call.ended.then(() => {
    over = true
  })
  // The engines report a start by an event only, and subscribing to events costs more than polling.
  for (let wait = 50; !over; wait = Math.min(wait * 2, 400)) {
    if (hasStarted(await inspect())) return
    if (Date.now() > deadline) {
      throw runtimeFailures.runtime_unavailable({
        runtime: dialect.name,
        problem: `it did not start "${name}" within ${START_MS / 1000} seconds.`,
      })
    }
    await Promise.race([call.ended, delay(wait)])
  }
  if (hasStarted(await inspect())) return
  throw diagnose(dialect, await text(call.stderr), { doing: `start "${name}"`, name })
}

/** Never rejects. An exit that cannot be found out has no code, and says why. */
async function describeExit(
  code: number | undefined,
  inspect: () => Promise<Instance | undefined>,
): Promise<Exit> {
  try {
    const now = await inspect()
    if (!now) return { ...(code === undefined ? {} : { code }), reason: 'it was removed' }
    if (now.state === 'running') return { reason: 'its standard streams broke; it still runs' }
    const { exitCode = code, reason } = now
    return { ...(exitCode === undefined ? {} : { code: exitCode }), ...(reason ? { reason } : {}) }
  } catch (error) {
    return { reason: isFailure(error) ? error.message : messageOf(error) }
  }
}
