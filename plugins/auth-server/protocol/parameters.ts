import { OAuthError } from './oauth-error.ts'

/** Parameters of a request by name; those without a value are left out (RFC 6749, section 3.1). */
export type Parameters = ReadonlyMap<string, string>

const MOST_PARAMETERS = 64
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f]/

/**
 * Reads parameters that came as a query or as a form. One that stands there twice is refused with
 * `invalid_request` (RFC 6749, sections 3.1 and 3.2), `resource` with `invalid_target` (RFC 8707).
 */
export function readParameters(text: string): Parameters {
  const found = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text)) {
    if (found.has(name)) {
      const code = name === 'resource' || name === 'audience' ? 'invalid_target' : 'invalid_request'
      throw new OAuthError(code, `A parameter stands in the request twice: ${quotable(name)}.`)
    }
    if (CONTROLS.test(value))
      throw new OAuthError('invalid_request', `A parameter holds control characters: ${quotable(name)}.`)
    found.set(name, value)
    if (found.size > MOST_PARAMETERS)
      throw new OAuthError('invalid_request', 'There are too many parameters.')
  }
  for (const [name, value] of found) if (value === '') found.delete(name)
  return found
}

/** Returns the value. Fails with `invalid_request` when there is none. */
export function required(parameters: Parameters, name: string): string {
  const value = parameters.get(name)
  if (value === undefined) throw new OAuthError('invalid_request', `The parameter ${name} is missing.`)
  return value
}

/** The characters that an error description may hold (RFC 6749, section 5.2), at most 64 of them. */
export const quotable = (text: string): string =>
  text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?').slice(0, 64)
