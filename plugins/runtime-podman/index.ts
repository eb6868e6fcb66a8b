import type { Plugin } from '../../src/plugin.ts'
import { loadContainerRuntime } from '../runtime-docker/index.ts'

/** Runs instances in Podman containers: Docker's driver with Podman's differences. */
const runtimePodman: Plugin = {
  name: 'runtime-podman',
  needs: ['runtime-docker'],
  provides: {
    runtimes: [async app => loadContainerRuntime(app, (await import('./podman-dialect.ts')).podmanDialect)],
  },
}
export default runtimePodman
