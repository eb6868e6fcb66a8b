import { readGoSettings } from './go-settings.ts'
import { readNpmSettings } from './npm-settings.ts'
import type { PackageReference } from './package-reference.ts'
import { pickVariables } from './pick-variables.ts'
import { readPypiSettings } from './pypi-settings.ts'

/** Variables that change where all tools connect, and whom they trust. */
const REACH = /^(?:(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS)$/i

/**
 * The user's settings that decide which registry is asked for a package, and with which login. The text contains secrets:
 * it is for comparisons only.
 */
export async function registrySettings(
  { scheme }: Pick<PackageReference, 'scheme'>,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const { env } = process
  const ways = {
    npx: async () => (await readNpmSettings(env)).npmrc,
    uvx: () => Promise.all([readPypiSettings(env, 'pip'), readPypiSettings(env, 'uv')]),
    go: () => readGoSettings({ signal }),
  }
  return JSON.stringify([await ways[scheme](), pickVariables(env, name => REACH.test(name))])
}
