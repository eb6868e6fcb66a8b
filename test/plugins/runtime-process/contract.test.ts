import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { findBubblewrap } from '../../../plugins/runtime-process/find-bubblewrap.ts'
import { createProcessRuntime } from '../../../plugins/runtime-process/process-runtime.ts'
import { runtimeContract } from '../../support/runtime-contract.ts'
import { fixedPackages } from './fixed-packages.ts'
import { hostProgram } from './programs.ts'

const path = process.env.PATH ?? ''
const hasBubblewrap = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', 'true']).status === 0

runtimeContract(
  'process (bubblewrap)',
  home =>
    createProcessRuntime({
      folder: join(home, 'processes'),
      sockets: join(home, 'net'),
      packages: fixedPackages(home),
      bubblewrap: () => findBubblewrap(path),
      path,
    }),
  {
    program: hostProgram,
    without: ['eat-memory'],
    unavailable: hasBubblewrap ? undefined : 'bubblewrap does not work here',
  },
)

runtimeContract(
  'process (no sandbox)',
  home =>
    createProcessRuntime({
      folder: join(home, 'processes'),
      sockets: join(home, 'net'),
      packages: fixedPackages(home),
      bubblewrap: async () => ({ works: false, problem: 'bubblewrap is not installed' }),
      path,
    }),
  { program: hostProgram, without: ['eat-memory', 'files'] },
)
