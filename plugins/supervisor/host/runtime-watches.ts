import { instanceName } from '../../../src/contracts/run-config.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import type { Log } from '../../../src/log.ts'
import type { Clock } from './clock.ts'
import type { HostedWorkload } from './host-state.ts'
import { createRuntimeWatch, type RuntimeWatch } from './runtime-watch.ts'

/** One watch for each runtime with a hosted workload. */
export interface RuntimeWatches {
  watch(runtime: Runtime): void
  /** Ends the watches of runtimes without a hosted workload. */
  release(): void
}

export function createRuntimeWatches(options: {
  hosted: ReadonlyMap<string, HostedWorkload>
  clock: Clock
  delays: readonly number[]
  log: Log
}): RuntimeWatches {
  const { hosted, clock, delays, log } = options
  const watches = new Map<Runtime, RuntimeWatch>()
  const hostedIn = (runtime: Runtime) => [...hosted.values()].filter(entry => entry.runtime === runtime)

  return {
    watch(runtime) {
      if (watches.has(runtime)) return
      const watch = createRuntimeWatch({
        runtime,
        clock,
        delays,
        log,
        onEvent({ name }) {
          hostedIn(runtime)
            .find(({ config }) => instanceName(config) === name)
            ?.lifecycle.check()
        },
        onUnavailable(problem) {
          log.warn(`${runtime.name} does not respond: ${problem}`)
          for (const { lifecycle } of hostedIn(runtime)) lifecycle.runtimeUnavailable(problem)
        },
        onAvailable() {
          for (const { lifecycle } of hostedIn(runtime)) void lifecycle.runtimeAvailable()
        },
      })
      watches.set(runtime, watch)
    },
    release() {
      for (const [runtime, watch] of watches) {
        if (hostedIn(runtime).length) continue
        watch.close()
        watches.delete(runtime)
      }
    },
  }
}
