import type { TransportSpec } from './formats/server-json.ts'
import { variablesMissing } from './missing-variables.ts'
import type { Origin } from './server-secrets.ts'

export interface FilledUrl {
  readonly url: string
  /** Names of the user's values that are now part of the URL. */
  readonly sent: readonly string[]
}

/**
 * Fills `{name}` in a remote server's URL with values given by -e, else with those of the entry. Nothing else of
 * the user's is used: no secret, and no variable of a file or of the environment.
 */
export function fillUrl(
  origin: Origin,
  { url, variables = {} }: Pick<TransportSpec, 'variables'> & { url: string },
  given: Readonly<Record<string, string>>,
): FilledUrl {
  const sent = new Set<string>()
  const missing = new Set<string>()
  const filled = url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const own = Object.hasOwn(variables, name) ? variables[name] : undefined
    const value = Object.hasOwn(given, name) ? given[name] : (own?.value ?? own?.default)
    if (value === undefined) missing.add(name)
    else if (Object.hasOwn(given, name)) sent.add(name)
    return value === undefined ? whole : encodeURIComponent(value)
  })
  if (missing.size) {
    const needed = [...missing].map(name => ({ name }))
    throw variablesMissing(origin, needed)
  }
  return { url: filled, sent: [...sent] }
}
