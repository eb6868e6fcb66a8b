import type { ClientInstance, ClientInstanceFactory } from '../../../../src/contracts/pipeline.ts'
import { messageOf } from '../../../../src/errors.ts'
import type { Log } from '../../../../src/log.ts'

/** Starts the processes that serve one client each, one of them ahead of time where that is wanted. */
export interface InstanceSupply {
  readonly spares: number
  /** A process that has served nobody. Waits while too many that were taken are ending. */
  take(): Promise<ClientInstance>
  /** Starts a spare process, unless there is one. */
  keepSpare(): void
  /** From now on processes are started in this way. */
  use(spawn: ClientInstanceFactory | undefined): void
  endSpare(): Promise<void>
}

/**
 * @param options.maxEnding Clients that come and go faster than processes end would have any number of them. So the
 * next one waits while this many are ending.
 */
export function createInstanceSupply(options: {
  wantsSpare: boolean
  maxEnding: number
  log: Log
}): InstanceSupply {
  const { wantsSpare, maxEnding, log } = options
  /** The ends of processes that are still there. */
  const ending = new Set<Promise<void>>()
  let spawn: ClientInstanceFactory | undefined
  let spare: Promise<ClientInstance> | undefined

  /** The same instance, which counts as ending until it has gone. */
  function counted({ attachment, end }: ClientInstance): ClientInstance {
    let ended: Promise<void> | undefined
    return {
      attachment,
      end() {
        if (ended) return ended
        ended = end()
        const own = ended.finally(() => ending.delete(own))
        ending.add(own)
        return ended
      },
    }
  }

  /** The spare process, which is nobody's spare any more. */
  async function takeSpare(): Promise<ClientInstance | undefined> {
    const ready = spare
    spare = undefined
    return ready?.catch(() => undefined)
  }

  return {
    get spares() {
      return spare ? 1 : 0
    },
    async take() {
      while (ending.size >= maxEnding) await Promise.race(ending)
      const ready = await takeSpare()
      if (ready) return counted(ready)
      if (!spawn) throw new Error('the server is not available')
      return counted(await spawn())
    },
    keepSpare() {
      if (!spawn || spare || !wantsSpare) return
      const own = spawn()
      spare = own
      const forget = () => {
        if (spare === own) spare = undefined
      }
      own.then(
        ({ attachment, end }) => {
          void attachment.exit.then(() => {
            if (spare !== own) return
            forget()
            void end()
          })
        },
        error => {
          forget()
          log.warn(`A spare process could not be started: ${messageOf(error)}`)
        },
      )
    },
    use(next) {
      spawn = next
    },
    async endSpare() {
      await (await takeSpare())?.end()
    },
  }
}
