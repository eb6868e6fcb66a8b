import { instanceName } from '../../../src/contracts/run-config.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import type { Log } from '../../../src/log.ts'
import type { Clock } from './clock.ts'
import type { Hosted } from './host-state.ts'
import { createMonitor, type Monitor } from './runtime-watch.ts'

/** One watch for each runtime that something hosted lives in. */
export interface Monitors {
  watch(runtime: Runtime): void
  /** Ends the watches that nothing needs any more. */
  release(): void
}

export function createMonitors(options: {
  hosted: ReadonlyMap<string, Hosted>
  clock: Clock
  delays: readonly number[]
  log: Log
}): Monitors {
  const { hosted, clock, delays, log } = options
  const monitors = new Map<Runtime, Monitor>()
  const livesIn = (runtime: Runtime) => [...hosted.values()].filter(entry => entry.runtime === runtime)

  return {
    watch(runtime) {
      if (monitors.has(runtime)) return
      const monitor = createMonitor({
        runtime,
        clock,
        delays,
        log,
        onEvent({ name }) {
          livesIn(runtime)
            .find(({ config }) => instanceName(config) === name)
            ?.life.look()
        },
        onAway(problem) {
          log.warn(`${runtime.name} does not answer: ${problem}`)
          for (const { life } of livesIn(runtime)) life.engineAway(problem)
        },
        onBack() {
          for (const { life } of livesIn(runtime)) life.engineBack()
        },
      })
      monitors.set(runtime, monitor)
    },
    release() {
      for (const [runtime, monitor] of monitors) {
        if (livesIn(runtime).length) continue
        monitor.close()
        monitors.delete(runtime)
      }
    },
  }
}
