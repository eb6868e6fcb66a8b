import { availableParallelism, release } from 'node:os'
import type { Limits } from '../../../src/contracts/runtime.ts'
import { DEFAULT_LIMITS } from '../../../src/lib/resources.ts'
import { type ControlGroups, findControlGroups, LIMITS } from './control-groups.ts'

/** How this host holds limits: by groups of processes, by limits of single processes, or not at all. */
export interface Holds {
  readonly groups: ControlGroups
  /**
   * Whether RLIMIT_NPROC counts the processes of one sandbox alone. Since Linux 5.14 it counts per user
   * namespace; before, all processes of the user. It never holds for root.
   */
  readonly countsProcesses: boolean
}

/** Looks for what holds limits here. */
export async function findHolds(): Promise<Holds> {
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

/** What was asked for, and the defaults of containers for the rest. */
export const fullLimits = (asked: Limits): Required<Limits> => ({
  memory: asked.memory ?? DEFAULT_LIMITS.memory,
  cpus: asked.cpus ?? Math.min(DEFAULT_LIMITS.cpus, availableParallelism()),
  pids: asked.pids ?? DEFAULT_LIMITS.pids,
})

/** Limits that each process keeps (setrlimit(2)), where no group holds the whole. */
export interface OwnLimits {
  /** RLIMIT_DATA in bytes. */
  readonly data?: number
  /** RLIMIT_NPROC. */
  readonly processes?: number
}

/** V8 makes about 0.6 GiB writable at its start that it does not use; RLIMIT_DATA counts it. */
const RESERVED = 2 ** 30

export const ownLimits = (
  { groups, countsProcesses }: Holds,
  limits: Required<Limits>,
  sandboxed: boolean,
): OwnLimits => ({
  ...(groups.memory ? {} : { data: limits.memory + RESERVED }),
  ...(!groups.pids && countsProcesses && sandboxed ? { processes: limits.pids } : {}),
})

/**
 * Runs a command under such limits and without core dumps; a limit that is tighter already stays. The shell
 * gets no variables of strangers. Which letter stands for RLIMIT_NPROC depends on the shell.
 */
export function limited(command: readonly string[], { data, processes }: OwnLimits): string[] {
  const script = [
    'ulimit -c 0',
    ...(data === undefined ? [] : [`ulimit -d ${Math.ceil(data / 1024)} 2>/dev/null`]),
    ...(processes === undefined ? [] : [`{ ulimit -u ${processes} || ulimit -p ${processes}; } 2>/dev/null`]),
    'exec "$@"',
  ]
  return ['/bin/sh', '-c', script.join('; '), 'sh', ...command]
}

const NAMES = { memory: 'memory', cpus: 'processor cores', pids: 'processes' } as const

/** What a user should know of limits that are not held in full; undefined when all are. */
export function describeHolds({ groups, countsProcesses }: Holds, wanted: Limits): string | undefined {
  const lacking = LIMITS.filter(limit => wanted[limit] !== undefined && !groups[limit])
  const rough = lacking.filter(limit => limit === 'memory')
  const unheld = lacking.filter(limit => limit === 'cpus' || (limit === 'pids' && !countsProcesses))
  const parts = [
    ...(rough.length ? ['memory is limited for each process alone, and roughly'] : []),
    ...(unheld.length ? [`${unheld.map(limit => NAMES[limit]).join(' and ')} are not limited`] : []),
  ]
  return parts.length ? `no control groups can be made here: ${parts.join('; ')}.` : undefined
}
