import type { Probe, Runtime } from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { failures } from './failures.ts'

/** A runtime and the result of its probe. */
export interface Probed {
  readonly runtime: Runtime
  readonly probe: Probe
}

/** What the chosen runtime must be able to do. */
export interface Wanted {
  /** The user insists on running a package without a sandbox: only runtimes that run packages can. */
  readonly noSandbox?: boolean | undefined
}

export interface Selection {
  readonly runtime: Runtime
  /** What the user should know about it, e.g. what it does not enforce. */
  readonly warnings: readonly string[]
}

/** Lists the runtimes that plugins contribute and chooses one of them. */
export interface Runtimes {
  /**
   * The runtime of that name, else of KEELSON_RUNTIME, else the first by rank that can be used. With `noSandbox`:
   * the runtime of that name, else the first by rank that runs packages on the host.
   * Fails with `runtime_unknown`, `runtime_unavailable`, `no_runtime`, `sandbox_wanted`.
   */
  select(name?: string, wanted?: Wanted): Promise<Selection>
  /** By name, internal ones too, without asking whether it works. Fails with `runtime_unknown`. */
  get(name: string): Promise<Runtime>
  /** In the order of preference, without internal ones. */
  all(): Promise<Runtime[]>
  /** Asks all of them, or the one named, at the same time. Never takes longer than the limit. */
  probeAll(options?: { name?: string | undefined; timeoutMs?: number }): Promise<Probed[]>
}

type Factory = () => Runtime | Promise<Runtime>

const DEFAULT_RANK = 500
const LAST_RESORT_RANK = 900
const DETECTION_MS = 5000
const BY_NAME = 'asked for by name'
const NO_SANDBOX_HINT =
  '`run --no-sandbox` runs packages anyway: a server can then read, change and reach everything that you can.'

export function createRuntimes(options: {
  contributed: () => Promise<readonly Factory[]>
  env: Readonly<Record<string, string | undefined>>
  log: Log
}): Runtimes {
  const { contributed, env, log } = options
  let made: Promise<Runtime[]> | undefined

  const everyOne = () => {
    made ??= contributed().then(factories => makeAll(factories, log))
    return made
  }
  const all = async () => (await everyOne()).filter(({ isInternal }) => !isInternal)

  async function get(name: string, from: string): Promise<Runtime> {
    const runtime = (await everyOne()).find(candidate => candidate.name === name)
    if (runtime) return runtime
    throw failures.runtime_unknown({ name, from, names: (await all()).map(candidate => candidate.name) })
  }

  /** The runtime for a package that the user runs without a sandbox. */
  async function getUnsandboxed(name: string | undefined): Promise<Runtime> {
    const runtime = name ? await get(name, BY_NAME) : (await all()).find(({ packages }) => packages)
    if (!runtime) throw failures.no_runtime({ problems: ['None runs packages on this host.'], hints: [] })
    if (!runtime.packages) throw failures.sandbox_wanted({ runtime: runtime.name })
    return runtime
  }

  /** Without a choice by the user: the first in order that is usable, without waiting for those after it. */
  async function detect(): Promise<Selection> {
    const chosen = new AbortController()
    const probes = (await all()).map(runtime => ({
      runtime,
      probe: probeWithin(runtime, DETECTION_MS, { enough: chosen.signal }),
    }))
    const problems: string[] = []
    const hints: string[] = []
    const passedOver: string[] = []
    try {
      for (const { runtime, probe } of probes) {
        const result = await probe
        if (!result.ok) {
          problems.push(`${runtime.name}: ${result.problem}`)
          if (!result.absent) passedOver.push(`${runtime.name} cannot be used: ${result.problem}`)
          if (isLastResort(runtime)) hints.push(result.hint)
        } else if (!isLastResort(runtime)) {
          const taken = passedOver.map(problem => `${runtime.name} is used, because ${problem}`)
          return { runtime, warnings: [...taken, ...result.warnings] }
        } else return { runtime, warnings: [...problems, ...result.warnings] }
      }
    } finally {
      chosen.abort() // a program that still waits for a response would keep this process running
    }
    throw failures.no_runtime({ problems, hints })
  }

  return {
    all,
    get: name => get(name, BY_NAME),

    async select(name, { noSandbox = false } = {}) {
      const wanted = name || env.KEELSON_RUNTIME
      if (!wanted && !noSandbox) return detect()
      const from = name ? BY_NAME : 'from KEELSON_RUNTIME'
      const runtime = noSandbox ? await getUnsandboxed(name) : await get(wanted ?? '', from)
      const probe = await probeWithin(runtime, DETECTION_MS, { noSandbox })
      if (probe.ok) return { runtime, warnings: probe.warnings }
      const { problem, hint } = probe
      throw runtimeFailures.runtime_unavailable({ runtime: runtime.name, problem, hint })
    },

    async probeAll({ name, timeoutMs = DETECTION_MS } = {}) {
      const runtimes = name ? [await get(name, BY_NAME)] : await all()
      return Promise.all(
        runtimes.map(async runtime => ({ runtime, probe: await probeWithin(runtime, timeoutMs) })),
      )
    },
  }
}

/** Returns the runtimes by rank. One that cannot be made, or whose name is taken, is left out with a warning. */
async function makeAll(factories: readonly Factory[], log: Log): Promise<Runtime[]> {
  const made = await Promise.allSettled(factories.map(async factory => factory()))
  const byName = new Map<string, Runtime>()
  for (const result of made) {
    if (result.status === 'rejected') {
      log.warn(`A runtime cannot be loaded: ${messageOf(result.reason)}`)
    } else if (byName.has(result.value.name)) {
      log.warn(`Two plugins provide a runtime "${result.value.name}"; the first is used.`)
    } else byName.set(result.value.name, result.value)
  }
  return [...byName.values()].sort((a, b) => rankOf(a) - rankOf(b))
}

const rankOf = ({ rank = DEFAULT_RANK }: Runtime): number => rank

const isLastResort = (runtime: Runtime): boolean => rankOf(runtime) >= LAST_RESORT_RANK

/**
 * Keeps the time limit even when a runtime hangs or throws. One that has no sandbox for its instances
 * here does not count as usable, unless that is what is wanted.
 */
async function probeWithin(
  runtime: Runtime,
  timeoutMs: number,
  { enough, noSandbox = false }: { enough?: AbortSignal; noSandbox?: boolean } = {},
): Promise<Probe> {
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(enough ? [enough] : [])])
  const late = new Promise<Probe>(resolve => {
    signal.addEventListener('abort', () =>
      resolve({
        ok: false,
        problem: `it did not respond within ${timeoutMs / 1000} s.`,
        hint: `Restart the engine behind "${runtime.name}", or choose another runtime with --runtime.`,
      }),
    )
  })
  const ask = async (): Promise<Probe> => {
    const probe = await runtime.probe(signal)
    const sandbox = probe.ok && !noSandbox ? await runtime.sandbox?.() : undefined
    return sandbox && !sandbox.ok ? { ...sandbox, hint: `${sandbox.hint} ${NO_SANDBOX_HINT}` } : probe
  }
  const result = ask().catch(
    (error: unknown): Probe => ({
      ok: false,
      problem: messageOf(error),
      hint: `Report this to the author of the runtime "${runtime.name}".`,
    }),
  )
  return Promise.race([result, late])
}
