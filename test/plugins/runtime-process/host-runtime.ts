import { join } from 'node:path'
import { type Bubblewrap, findBubblewrap } from '../../../plugins/runtime-process/find-bubblewrap.ts'
import {
  createProcessRuntime,
  type ProcessRuntimeOptions,
} from '../../../plugins/runtime-process/process-runtime.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import { fixedPackages } from './fixed-packages.ts'

const path = process.env.PATH ?? ''

/** No bubblewrap, as on a machine without it. */
export const NO_BUBBLEWRAP: Bubblewrap = {
  works: false,
  problem: 'bubblewrap (bwrap) is not installed',
  hint: 'Install bubblewrap, docker or podman.',
}

/**
 * A process runtime over the same folder, as every keelson process of a user has one. Without a sandbox
 * its instances insist on running all the same, unless they say otherwise.
 */
export function hostRuntime(
  home: string,
  {
    sandbox,
    packages = fixedPackages(home),
  }: { sandbox: boolean; packages?: ProcessRuntimeOptions['packages'] },
): Runtime {
  const runtime = createProcessRuntime({
    folder: join(home, 'processes'),
    sockets: join(home, 'net'),
    packages,
    bubblewrap: sandbox ? () => findBubblewrap(path) : async () => NO_BUBBLEWRAP,
    path,
  })
  return { ...runtime, create: (spec, wait) => runtime.create({ noSandbox: !sandbox, ...spec }, wait) }
}
