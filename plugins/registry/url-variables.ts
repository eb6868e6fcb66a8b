import type { TransportSpec } from './formats/server-json.ts'
import { variablesMissing } from './missing-variables.ts'
import type { Origin } from './server-secrets.ts'

export interface FilledUrl {
  readonly url: string
  /** Names whose values the user gave: they are sent to the host of the URL. */
  readonly sent: readonly string[]
}

/**
 * Fills `{name}` in a remote server's URL: with what the user gave for this run with -e, else with what
 * the entry says. Nothing else of the user's can get in: no secret, no variable of a file or of the
 * environment.
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
