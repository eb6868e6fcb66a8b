import { foreignText } from './foreign-text.ts'
import type { EnvVar } from './formats/server-facts.ts'
import type { Origin } from './server-secrets.ts'

const MOST_NAME = 200
const MOST_DESCRIPTION = 200

const publisherOf = ({ server }: Origin): string => server.slice(0, Math.max(0, server.indexOf('/')))

/** Says which server asks for what, and quotes the publisher's description. */
function request(origin: Origin, { name, description, secret }: EnvVar): string {
  const server = foreignText(origin.server, MOST_NAME)
  const publisher = foreignText(publisherOf(origin), MOST_NAME)
  const by = `published by ${publisher || 'an unnamed publisher'}, listed in ${foreignText(origin.registry, MOST_NAME)}`
  const what = `${secret ? 'the secret ' : ''}${foreignText(name, MOST_NAME)}`
  const why = description ? `: "${foreignText(description, MOST_DESCRIPTION)}"` : ''
  return `"${server}" (${by}) asks for ${what}${why}`
}

/** Asks whether the server may have a secret that is stored. */
export const consentQuestion = (origin: Origin, variable: EnvVar, secret: string): string =>
  `${request(origin, variable)}\nGive it your stored secret "${secret}", now and whenever you run this server? [y/N]`

/** Asks for the value itself. */
export const valueQuestion = (origin: Origin, variable: EnvVar): string =>
  `${request(origin, variable)}\n${foreignText(variable.name, MOST_NAME)}`
