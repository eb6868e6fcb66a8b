import type { Plugin } from '../../src/plugin.ts'
import { GetBuildAuthFile, SetBuildAuthFile, UnsetBuildAuthFile } from './commands/build-auth-file.ts'
import { GetBuildEnv, SetBuildEnv, UnsetBuildEnv } from './commands/build-env.ts'
import { GetCaCert, SetCaCert, UnsetCaCert } from './commands/ca-cert.ts'
import { GetCallerToken, SetCallerToken } from './commands/caller-token.ts'
import { otelCommands } from './commands/otel.ts'
import {
  GetRegistry,
  SetRegistry,
  SetRegistryAuth,
  UnsetRegistry,
  UnsetRegistryAuth,
} from './commands/registry.ts'
import { UsageMetrics } from './commands/usage-metrics.ts'

/** The commands for settings. The settings themselves are a service of their own. */
const configCommand: Plugin = {
  name: 'config-command',
  needs: ['callers', 'registry', 'secrets', 'settings'],
  uses: ['callerToken', 'registry', 'secrets', 'settings'],
  commands: [
    SetCaCert,
    GetCaCert,
    UnsetCaCert,
    SetRegistry,
    GetRegistry,
    UnsetRegistry,
    SetRegistryAuth,
    UnsetRegistryAuth,
    SetBuildEnv,
    GetBuildEnv,
    UnsetBuildEnv,
    SetBuildAuthFile,
    GetBuildAuthFile,
    UnsetBuildAuthFile,
    SetCallerToken,
    GetCallerToken,
    UsageMetrics,
    ...otelCommands,
  ],
}
export default configCommand
