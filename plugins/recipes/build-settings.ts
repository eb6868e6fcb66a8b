import type { App } from '../../src/app.ts'
import type { Report } from '../../src/contracts/runtime.ts'
import { failures } from './failures.ts'

/** What the settings say about every build. */
export interface BuildSettings {
  /** Path of the certificates to trust where `--ca-cert` names none. */
  caCertificate(): Promise<string | undefined>
  /** Variables of builds. Fails with `recipe_build_env_invalid`, or as the secrets do. */
  variables(report?: Report): Promise<BuildVariables>
}

export interface BuildVariables {
  readonly values: ReadonlyMap<string, string>
  /** Those of the values that are secrets. */
  readonly secrets: readonly string[]
}

export const NO_VARIABLES: BuildVariables = { values: new Map(), secrets: [] }

const NAME = /^[A-Z][A-Z0-9_]*$/

/** Reads the settings anew for each build; where no plugin keeps settings there are none. */
export function createBuildSettings(app: Pick<App, 'entries' | 'env' | 'service'>): BuildSettings {
  const hasSettings = app.entries.some(entry => entry.services?.includes('settings'))
  return {
    caCertificate: async () =>
      hasSettings ? (await app.service('settings')).get('ca_certificate_path') : undefined,

    async variables(report) {
      if (!hasSettings) return NO_VARIABLES
      const settings = await app.service('settings')
      const values = new Map(Object.entries((await settings.get('build_env')) ?? {}))
      const fromSecrets = Object.entries((await settings.get('build_env_from_secrets')) ?? {})
      const secrets: string[] = []
      for (const [name, secret] of fromSecrets) {
        const value = await (await app.service('secrets')).get(secret)
        values.set(name, value)
        secrets.push(value)
      }
      for (const name of (await settings.get('build_env_from_shell')) ?? []) {
        const value = app.env[name]
        if (value === undefined)
          report?.(`warning: ${name} is meant for builds, but is not set in this shell`)
        else values.set(name, value)
      }
      // The settings are a file that people edit; a name is code where the variables are set.
      const wrong = [...values].find(([name, value]) => !NAME.test(name) || value.includes('\0'))
      if (wrong) throw failures.recipe_build_env_invalid({ name: wrong[0] })
      return { values, secrets }
    },
  }
}
