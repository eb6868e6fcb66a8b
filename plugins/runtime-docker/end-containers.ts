import { setTimeout as delay } from 'node:timers/promises'
import type { Instance } from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { isFailure } from '../../src/errors.ts'
import { START_MS } from './attach-options.ts'
import type { Dialect } from './dialect.ts'
import type { EngineCli } from './engine-cli.ts'
import type { ContainerFinder } from './find-containers.ts'
import type { Container } from './parse-containers.ts'

const REMOVE_MS = 30_000
/** How long after its end, in milliseconds, an engine may still start an instance again. */
const REST_MS = 1500

/** Stops and removes containers of one owner. */
export interface ContainerEnder {
  /** Returns when the container of that name rests. Idempotent. */
  stop(name: string, graceSeconds: number): Promise<void>
  /** Idempotent. */
  remove(instance: Instance): Promise<void>
}

export function createContainerEnder(options: {
  dialect: Dialect
  cli: EngineCli
  finder: ContainerFinder
}): ContainerEnder {
  const { dialect, cli, finder } = options

  function isAtRest({ instance, finishedAt }: Container): boolean {
    if (instance.state === 'created') return true
    if (instance.state !== 'exited') return false
    const restless = dialect.restartsUnseen && instance.restarts && finishedAt !== undefined
    return !restless || Date.now() - finishedAt.getTime() > REST_MS
  }

  async function stopOnce({ id, name }: Instance, seconds: number): Promise<void> {
    const args = ['stop', `--time=${seconds}`, '--', id]
    const api = { method: 'POST', path: `/containers/${id}/stop?t=${seconds}` } as const
    try {
      await cli.run(args, { doing: `stop "${name}"`, name }, { timeoutMs: seconds * 1000 + START_MS, api })
    } catch (error) {
      if (!isFailure(error, 'instance_missing')) throw error
    }
  }

  return {
    async stop(name, graceSeconds) {
      const seconds = Math.max(0, Math.ceil(graceSeconds))
      const deadline = Date.now() + seconds * 1000 + REMOVE_MS
      for (;;) {
        const container = await finder.findOurs(name)
        if (!container || isAtRest(container)) return
        // Also when it seems to have ended: the engine stops it after the start that is under way.
        await stopOnce(container.instance, seconds)
        if (!dialect.restartsUnseen) return
        if (Date.now() > deadline) throw keepsComing(dialect.name, name)
        if (container.instance.state === 'exited') await delay(100)
      }
    },

    async remove({ id, name }) {
      const args = ['rm', '--force', '--volumes', ...dialect.removeArguments, '--', id]
      const api = { method: 'DELETE', path: `/containers/${id}?force=1&v=1` } as const
      const deadline = Date.now() + REMOVE_MS
      for (;;) {
        try {
          await cli.run(args, { doing: `remove "${name}"`, name }, { timeoutMs: REMOVE_MS, api })
          return
        } catch (error) {
          if (isFailure(error, 'instance_missing')) return
          // Another process is removing the container, or it is just ending: wait, then check again.
          const busy =
            isFailure(error, 'runtime_failed') &&
            /already in progress|container state improper/i.test(error.message)
          if (!busy || Date.now() > deadline) throw error
          await delay(100)
        }
      }
    },
  }
}

const keepsComing = (runtime: string, name: string) =>
  runtimeFailures.runtime_failed({
    runtime,
    doing: `stop "${name}"`,
    problem: 'it ends and starts again all the time.',
    hint: 'Remove it instead.',
  })
