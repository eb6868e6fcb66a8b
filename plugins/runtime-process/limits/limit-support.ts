import { availableParallelism, release } from 'node:os'
import type { Limits } from '../../../src/contracts/runtime.ts'
import { programText } from '../../../src/lib/program-text.ts'
import { DEFAULT_LIMITS } from '../../../src/lib/resources.ts'
import { type ControlGroups, findControlGroups, LIMITS } from './control-groups.ts'

/** How this host enforces limits: by control groups, for each process alone, or not at all. */
export interface LimitSupport {
  readonly groups: ControlGroups
  /**
   * Whether RLIMIT_NPROC counts the processes of one sandbox alone. Since Linux 5.14 it counts per user
   * namespace; before, all processes of the user. It never applies to root.
   */
  readonly countsProcesses: boolean
}

/** Finds out how limits can be enforced on this host. */
export async function findLimitSupport(): Promise<LimitSupport> {
  if (process.platform !== 'linux') return { groups: {}, countsProcesses: false }
  return {
    groups: await findControlGroups(),
    countsProcesses: process.getuid?.() !== 0 && isAtLeast(release(), 5, 14),
  }
}

const isAtLeast = (version: string, major: number, minor: number): boolean => {
  const [is = 0, point = 0] = version.split('.').map(Number)
  return is > major || (is === major && point >= minor)
}

/** Returns the given limits, completed with the defaults of containers. */
export const withDefaultLimits = (asked: Limits): Required<Limits> => ({
  memory: asked.memory ?? DEFAULT_LIMITS.memory,
  cpus: asked.cpus ?? Math.min(DEFAULT_LIMITS.cpus, availableParallelism()),
  pids: asked.pids ?? DEFAULT_LIMITS.pids,
})

/** Limits for each single process (setrlimit(2)), where no control group limits them together. */
export interface ProcessLimits {
  /** RLIMIT_DATA in bytes. */
  readonly data?: number
  /** RLIMIT_NPROC. */
  readonly processes?: number
}

/** V8 maps about 0.6 GiB of writable memory at start that it does not use; RLIMIT_DATA counts it. */
const RESERVED = 2 ** 30

export const processLimits = (
  { groups, countsProcesses }: LimitSupport,
  { limits, sandboxed }: { limits: Required<Limits>; sandboxed: boolean },
): ProcessLimits => ({
  ...(groups.memory ? {} : { data: limits.memory + RESERVED }),
  ...(!groups.pids && countsProcesses && sandboxed ? { processes: limits.pids } : {}),
})

const RUN_LIMITED = programText('plugins/runtime-process/programs/run-limited.sh')

/**
 * Returns a command that runs another one under these limits. The shell gets none of the server's variables.
 */
export function withProcessLimits(command: readonly string[], { data, processes }: ProcessLimits): string[] {
  const kib = data === undefined ? '' : String(Math.ceil(data / 1024))
  return ['/bin/sh', '-c', RUN_LIMITED, 'sh', kib, String(processes ?? ''), ...command]
}

const NAMES = { memory: 'memory', cpus: 'processor cores', pids: 'processes' } as const

/** Says which limits are not fully enforced; undefined when all are. */
export function describeMissingLimits(
  { groups, countsProcesses }: LimitSupport,
  wanted: Limits,
): string | undefined {
  const lacking = LIMITS.filter(limit => wanted[limit] !== undefined && !groups[limit])
  const rough = lacking.filter(limit => limit === 'memory')
  const unlimited = lacking.filter(limit => limit === 'cpus' || (limit === 'pids' && !countsProcesses))
  const parts = [
    ...(rough.length ? ['memory is limited for each process alone, and only roughly'] : []),
    ...(unlimited.length ? [`${unlimited.map(limit => NAMES[limit]).join(' and ')} are not limited`] : []),
  ]
  return parts.length ? `control groups cannot be created here: ${parts.join('; ')}.` : undefined
}
