import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A variable as a stranger's entry asks for it. */
export interface Wanted {
  readonly name: string
  readonly description?: string
  readonly default?: string
  readonly isRequired?: boolean
  readonly isSecret?: boolean
}

/** The variable that strangers ask for: required, and a secret. */
export const wants = (name: string, more: Partial<Wanted> = {}): Wanted => ({
  name,
  isRequired: true,
  isSecret: true,
  ...more,
})

/** An entry for what runs elsewhere. */
export const remoteEntry = (name: string, url: string, variables: readonly Wanted[] = []) => ({
  name,
  description: 'a server of a stranger',
  version: '1.0.0',
  remotes: [{ type: 'streamable-http', url }],
  _meta: withVariables(url, variables),
})

/** An entry for an npm package. */
export const packageEntry = (
  name: string,
  [identifier, version]: readonly [identifier: string, version: string],
  variables: readonly Wanted[] = [],
) => ({
  name,
  description: 'a server of a stranger',
  version: '1.0.0',
  packages: [
    {
      registryType: 'npm',
      identifier,
      version,
      transport: { type: 'stdio' },
      environmentVariables: variables,
    },
  ],
})

const withVariables = (key: string, variables: readonly Wanted[]) => ({
  'io.modelcontextprotocol.registry/publisher-provided': {
    'io.github.stacklok': {
      [key]: {
        env_vars: variables.map(({ isRequired, isSecret, ...one }) => ({
          ...one,
          required: isRequired,
          secret: isSecret,
        })),
      },
    },
  },
})

/** Sets a registry of these entries, in a file of the home, without asking the program to look at it. */
export async function setRegistry(home: string, servers: readonly object[], file = 'registry.json') {
  const path = join(home, file)
  await writeFile(path, JSON.stringify({ version: '1.0.0', meta: {}, data: { servers } }))
  const folder = join(home, '.config/keelson')
  await mkdir(folder, { recursive: true })
  const settings = join(folder, 'config.json')
  const before = JSON.parse(await readFile(settings, 'utf8').catch(() => '{}'))
  await writeFile(settings, JSON.stringify({ ...before, local_registry_path: path }))
  return path
}
