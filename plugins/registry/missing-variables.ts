import { failures } from './failures.ts'
import { foreignText } from './foreign-text.ts'
import type { EnvVar } from './formats/server-json.ts'
import type { Origin } from './server-secrets.ts'

/** What a server needs and has not been given. */
export interface MissingVariables extends Origin {
  /** Of all that is missing, for people. */
  readonly names: readonly string[]
  /** One of the secrets among it, if possible one that may be stored. */
  readonly secret?: string | undefined
  /** Name of the stored secret that may be meant. */
  readonly stored?: string | undefined
  /** All that is missing, for programs. */
  readonly missing: readonly Missing[]
}

interface Missing {
  readonly name: string
  readonly secret: boolean
  readonly description?: string
  readonly stored?: string
}

const MOST = 100

/** The failure `variables_missing`. */
export function variablesMissing(
  origin: Origin,
  needed: readonly (Pick<EnvVar, 'name' | 'description' | 'secret'> & { stored?: string | undefined })[],
): Error {
  const missing = needed.map(({ name, description, secret, stored }) => ({
    name,
    secret: secret === true,
    ...(description ? { description } : {}),
    ...(stored ? { stored } : {}),
  }))
  const secrets = missing.filter(one => one.secret)
  const shown = secrets.find(one => one.stored) ?? secrets[0]
  return failures.variables_missing({
    ...origin,
    names: missing.map(({ name, secret }) => `${foreignText(name, MOST)}${secret ? ' (secret)' : ''}`),
    secret: shown?.name,
    stored: shown?.stored,
    missing,
  })
}
