import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { Instance } from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { type AttachOptions, START_MS } from './attach-options.ts'
import { diagnose } from './diagnose.ts'
import type { OpenCall } from './engine-cli.ts'

/** Starts a stopped instance through a program that holds its standard streams, and ends with the instance. */
export async function attachByCommand(options: AttachOptions): Promise<OpenCall> {
  const { dialect, cli, before, info } = options
  const args = ['start', '--attach', '--interactive', ...dialect.attachArguments(await info())]
  const call = cli.open([...args, '--', before.id])
  try {
    await untilStarted(call, options)
    return call
  } catch (error) {
    call.kill()
    throw error
  }
}

async function untilStarted(call: OpenCall, { dialect, before, inspect }: AttachOptions): Promise<void> {
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
