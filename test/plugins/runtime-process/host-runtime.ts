import { join } from 'node:path'
import { findBubblewrap } from '../../../plugins/runtime-process/find-bubblewrap.ts'
import { createProcessRuntime } from '../../../plugins/runtime-process/process-runtime.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import { fixedPackages } from './fixed-packages.ts'

const path = process.env.PATH ?? ''

/** A process runtime over the same folder, as every keelson process of a user has one. */
export function hostRuntime(home: string, { sandbox }: { sandbox: boolean }): Runtime {
  return createProcessRuntime({
    folder: join(home, 'processes'),
    sockets: join(home, 'net'),
    packages: fixedPackages(home),
    bubblewrap: sandbox
      ? () => findBubblewrap(path)
      : async () => ({ works: false, problem: 'bubblewrap (bwrap) is not installed' }),
    path,
  })
}
