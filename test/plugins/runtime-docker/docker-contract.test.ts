import { createContainerRuntime, ownerOf } from '../../../plugins/runtime-docker/container-runtime.ts'
import { dockerDialect } from '../../../plugins/runtime-docker/docker-dialect.ts'
import { busyboxProgram } from '../../support/busybox-programs.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { runtimeContract } from '../../support/runtime-contract.ts'

runtimeContract(
  'docker',
  home =>
    createContainerRuntime({
      folder: home,
      dialect: dockerDialect,
      owner: ownerOf(home),
      env: { ...process.env },
    }),
  {
    program: busyboxProgram,
    unavailable: engineProblem('docker', 'keelson-test/busybox:1'),
    sharedNames: true,
    restarts: true,
  },
)
