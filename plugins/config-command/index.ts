import type { Plugin } from '../../src/plugin.ts'
import { settingCommands } from './commands/setting-commands.ts'
import { UsageMetrics } from './commands/usage-metrics.ts'
import type { Setting } from './setting.ts'
import { buildAuthFile } from './settings/build-auth-file.ts'
import { buildEnv } from './settings/build-env.ts'
import { caCert } from './settings/ca-cert.ts'
import { callerToken } from './settings/caller-token.ts'
import { clientMetadataUrl } from './settings/client-metadata-url.ts'
import { otelSettings } from './settings/otel.ts'
import { registryAuth, registrySource } from './settings/registry-setting.ts'
import { unsignedSkills } from './settings/unsigned-skills.ts'

/** Everything that `config` gets, sets and unsets. */
const SETTINGS: readonly Setting[] = [
  caCert,
  registrySource,
  registryAuth,
  buildEnv,
  buildAuthFile,
  callerToken,
  clientMetadataUrl,
  unsignedSkills,
  ...otelSettings,
]

/** The commands for settings. The settings themselves are a service of their own. */
const configCommand: Plugin = {
  name: 'config-command',
  needs: ['callers', 'registry', 'secrets', 'settings'],
  uses: ['callerToken', 'registry', 'secrets', 'settings'],
  commands: [...SETTINGS.flatMap(settingCommands), UsageMetrics],
}
export default configCommand
