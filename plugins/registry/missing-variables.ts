import { failures } from './failures.ts'
import { foreignText } from './foreign-text.ts'
import type { EnvVar } from './formats/server-facts.ts'
import type { Origin } from './server-secrets.ts'

/** The variables that a server needs and that have no value. */
export interface MissingVariables extends Origin {
  /** All missing variables, for people. */
  readonly names: readonly string[]
  /** One of the missing secrets, if possible one that is stored. */
  readonly secret?: string | undefined
  /** Name of the stored secret that may be meant. */
  readonly stored?: string | undefined
  /** They are headers of requests to a remote server. */
  readonly areHeaders: boolean
  /** All missing variables, for programs. */
  readonly missing: readonly Missing[]
}

interface Missing {
  readonly name: string
  readonly secret: boolean
  readonly description?: string
  readonly stored?: string
}

const MOST = 100

/** Makes the failure `variables_missing`. */
export function variablesMissing(
  origin: Origin,
  needed: readonly (Pick<EnvVar, 'name' | 'description' | 'secret'> & { stored?: string | undefined })[],
  { areHeaders = false }: { areHeaders?: boolean } = {},
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
    areHeaders,
    missing,
  })
}
