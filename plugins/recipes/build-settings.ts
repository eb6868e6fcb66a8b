import type { App } from '../../src/app.ts'
import type { Report } from '../../src/contracts/runtime.ts'
import { type BuildAuthFile, isBuildAuthFile, secretsOfBuildAuth } from '../../src/lib/build-auth.ts'
import { failures } from './failures.ts'

/** What the settings say about every build. */
export interface BuildSettings {
  /** Path of the certificates to trust where `--ca-cert` names none. */
  caCertificate(): Promise<string | undefined>
  /** Variables and files with logins. Fails with `recipe_build_env_invalid`, `recipe_build_auth_missing`, or as the secrets do. */
  variables(report?: Report): Promise<BuildVariables>
  /** Those of them that any image may see: no secret, nothing of the shell, no file, no address with a login. */
  publicVariables(image: string | undefined, report?: Report): Promise<BuildVariables>
}

export interface BuildVariables {
  readonly values: ReadonlyMap<string, string>
  /** Those of the values that are secrets, and those in the files. */
  readonly secrets: readonly string[]
  /** Files with logins by name (`npmrc`, without the dot). */
  readonly authFiles: ReadonlyMap<string, string>
}

export const NO_VARIABLES: BuildVariables = { values: new Map(), secrets: [], authFiles: new Map() }

const NAME = /^[A-Z][A-Z0-9_]*$/
const HOLDS_LOGIN = /:\/\/[^/\s]*@/

/** Reads the settings anew for each build; where no plugin keeps settings there are none. */
export function createBuildSettings(app: Pick<App, 'env' | 'find' | 'service'>): BuildSettings {
  return {
    caCertificate: async () => (await app.find('settings'))?.get('ca_certificate_path'),

    async variables(report) {
      const settings = await app.find('settings')
      if (!settings) return NO_VARIABLES
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
      assertSettable(values)
      const authFiles = await readAuthFiles(app, (await settings.get('build_auth_files')) ?? {})
      for (const [name, content] of authFiles) secrets.push(...secretsOfBuildAuth(name, content))
      return { values, secrets, authFiles }
    },

    async publicVariables(image, report) {
      const settings = await app.find('settings')
      if (!settings) return NO_VARIABLES
      const all = Object.entries((await settings.get('build_env')) ?? {})
      const values = new Map(all.filter(([, value]) => !HOLDS_LOGIN.test(value)))
      assertSettable(values)
      const others = await Promise.all([
        settings.get('build_env_from_secrets'),
        settings.get('build_env_from_shell'),
        settings.get('build_auth_files'),
      ])
      if (values.size < all.length || others.some(there => there && Object.keys(there).length > 0)) {
        report?.(`warning: ${image} was not named with --runtime-image: it sees no logins of the settings`)
      }
      return { values, secrets: [], authFiles: new Map() }
    },
  }
}

/** The settings are a file that people edit; a name is code where the variables are set. */
function assertSettable(values: ReadonlyMap<string, string>): void {
  const wrong = [...values].find(([name, value]) => !NAME.test(name) || value.includes('\0'))
  if (wrong) throw failures.recipe_build_env_invalid({ name: wrong[0] })
}

/** The settings say which there are, by the name of the secret that each is. */
async function readAuthFiles(
  app: Pick<App, 'service'>,
  named: Readonly<Record<string, string>>,
): Promise<Map<BuildAuthFile, string>> {
  const files = new Map<BuildAuthFile, string>()
  for (const [name, secret] of Object.entries(named)) {
    if (!isBuildAuthFile(name)) throw failures.recipe_build_auth_missing({ name })
    const content = await (await app.service('secrets')).scope('auth').find(secret)
    if (content === undefined) throw failures.recipe_build_auth_missing({ name })
    files.set(name, content)
  }
  return files
}
