import { delimiter, dirname } from 'node:path'
import type { InstanceSpec, Limits } from '../../src/contracts/runtime.ts'
import type { Bubblewrap } from './find-bubblewrap.ts'
import type { Launch } from './launch-process.ts'
import {
  type LimitSupport,
  processLimits,
  withDefaultLimits,
  withProcessLimits,
} from './limits/limit-support.ts'
import type { InstalledPackage } from './packages/installed-package.ts'
import { MARK } from './process-group.ts'
import { HOME, sandboxCommand } from './sandbox.ts'
import { networkFiles } from './sandbox-network.ts'
import { seccompFilter } from './seccomp/seccomp-filter.ts'
import { starterCommand, starterInput } from './starter.ts'

const SANDBOX_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** What `start` needs. It holds the environment, so it stays in memory and never reaches the disk. */
export interface PreparedLaunch extends Pick<Launch, 'command' | 'env' | 'input' | 'seccomp'> {
  /** Of the instance it was prepared for. */
  readonly id: string
  readonly limits: Required<Limits>
}

/** Composes the command line, the sandbox and the environment of an instance. */
export async function prepareLaunch(
  spec: InstanceSpec,
  options: {
    id: string
    installed: InstalledPackage
    bubblewrap: Bubblewrap
    limitSupport: LimitSupport
    /** The instance's home folder on this host. */
    home: string
    /** Where the sockets of isolated instances are. */
    sockets: string
    /** PATH without a sandbox. */
    path: string
  },
): Promise<PreparedLaunch> {
  const { id, installed, bubblewrap, limitSupport, home, path } = options
  const limits = withDefaultLimits(spec.limits)
  const own = processLimits(limitSupport, { limits, sandboxed: bubblewrap.works })
  const seccomp = bubblewrap.works ? seccompFilter() : undefined
  const { sockets } = networkFiles(options.sockets, spec.name)
  const filtered = seccomp !== undefined
  const folders = [dirname(process.execPath), ...(bubblewrap.works ? SANDBOX_PATH : [path])]
  return {
    id,
    limits,
    seccomp,
    env: { [MARK]: id },
    command: bubblewrap.works
      ? await sandboxCommand(spec, { bubblewrap, installed, home, sockets, limits: own, filtered })
      : withProcessLimits(starterCommand(spec), own),
    input: starterInput({
      command: [...installed.command, ...spec.args],
      env: {
        PATH: folders.join(delimiter),
        HOME: bubblewrap.works ? HOME : home,
        LANG: 'C.UTF-8',
        ...spec.env,
        [MARK]: id,
      },
    }),
  }
}
