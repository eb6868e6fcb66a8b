import { spawnSync } from 'node:child_process'
import { runtimeContract } from '../../support/runtime-contract.ts'
import { hostRuntime } from './host-runtime.ts'
import { hostProgram } from './programs.ts'

const hasBubblewrap = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', 'true']).status === 0

runtimeContract('process (bubblewrap)', home => hostRuntime(home, { sandbox: true }), {
  program: hostProgram,
  without: ['eat-memory'],
  unavailable: hasBubblewrap ? undefined : 'bubblewrap does not work here',
})

runtimeContract('process (no sandbox)', home => hostRuntime(home, { sandbox: false }), {
  program: hostProgram,
  without: ['eat-memory', 'files'],
})
