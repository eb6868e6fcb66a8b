import { createContainerRuntime, ownerOf } from '../../../plugins/runtime-docker/container-runtime.ts'
import { dockerDialect } from '../../../plugins/runtime-docker/docker-dialect.ts'
import { busyboxProgram } from '../../support/busybox-programs.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { runtimeContract } from '../../support/runtime-contract.ts'

// Standard streams go over the engine's socket here, as this host has it, and through its program where it is elsewhere.
for (const [title, dialect] of [
  ['docker', dockerDialect],
  ['docker without its socket', { ...dockerDialect, socket: () => undefined }],
] as const) {
  runtimeContract(
    title,
    home => createContainerRuntime({ folder: home, dialect, owner: ownerOf(home), env: { ...process.env } }),
    {
      program: busyboxProgram,
      unavailable: engineProblem('docker', 'keelson-test/busybox:1'),
      sharedNames: true,
      restarts: true,
    },
  )
}
