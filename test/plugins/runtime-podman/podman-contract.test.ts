import { createContainerRuntime, ownerOf } from '../../../plugins/runtime-docker/container-runtime.ts'
import { podmanDialect } from '../../../plugins/runtime-podman/podman-dialect.ts'
import { busyboxProgram } from '../../support/busybox-programs.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { runtimeContract } from '../../support/runtime-contract.ts'

runtimeContract(
  'podman',
  home =>
    createContainerRuntime({
      folder: home,
      dialect: podmanDialect,
      owner: ownerOf(home),
      env: { ...process.env },
    }),
  {
    program: busyboxProgram,
    unavailable: engineProblem('podman', 'keelson-test/busybox:1'),
    sharedNames: true,
    restarts: true,
  },
)
