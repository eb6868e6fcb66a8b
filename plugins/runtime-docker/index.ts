import type { App } from '../../src/app.ts'
import type { Runtime } from '../../src/contracts/runtime.ts'
import { withoutKeelsonSecrets } from '../../src/lib/keelson-secrets.ts'
import type { Plugin } from '../../src/plugin.ts'
import type { Dialect } from './dialect.ts'

export type { Abilities, Dialect, EngineEvent, EngineNetwork, Symptom } from './dialect.ts'

/** Makes a runtime for an engine whose command line is docker's, apart from the given dialect. */
export async function loadContainerRuntime(app: App, dialect: Dialect): Promise<Runtime> {
  const { createContainerRuntime, ownerOf } = await import('./container-runtime.ts')
  const { paths, log } = app
  const env = withoutKeelsonSecrets(app.env) // what the engine's programs inherit
  return createContainerRuntime({ dialect, owner: ownerOf(paths.data), env, folder: paths.runtime, log })
}

/** Runs instances in Docker containers. */
const runtimeDocker: Plugin = {
  name: 'runtime-docker',
  provides: {
    runtimes: [async app => loadContainerRuntime(app, (await import('./docker-dialect.ts')).dockerDialect)],
  },
}
export default runtimeDocker
