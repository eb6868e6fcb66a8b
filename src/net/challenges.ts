/** One way to authenticate that a server offers (RFC 9110 section 11.6.1). */
export interface Challenge {
  /** In lower case. */
  readonly scheme: string
  /** Names in lower case; of a repeated one the first. */
  readonly parameters: Readonly<Record<string, string>>
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+/
/** A token, or what servers forget to quote, such as a URL. */
const BARE = /^[^\s,"]+/
const TOKEN68 = /^[A-Za-z0-9._~+/-]+=*(?=\s*(?:,|$))/

/**
 * Reads a `WWW-Authenticate` header, all values joined by commas. What cannot be read ends the list:
 * the challenges in front of it count.
 */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Record<string, string> }[] = []
  let rest = header
  const eat = (pattern: RegExp): string | undefined => {
    const found = pattern.exec(rest)?.[0]
    if (found !== undefined) rest = rest.slice(found.length)
    return found
  }
  const eatParameter = (): [string, string] | undefined => {
    const before = rest
    const name = eat(TOKEN)
    if (name !== undefined && eat(/^[ \t]*=[ \t]*/) !== undefined) {
      const quoted = eat(/^"(?:[^"\\]|\\.)*"/s)
      const value = quoted === undefined ? eat(BARE) : quoted.slice(1, -1).replace(/\\(.)/gs, '$1')
      if (value !== undefined) return [name.toLowerCase(), value]
    }
    rest = before
    return undefined
  }

  for (;;) {
    eat(/^[\s,]+/)
    const current = challenges.at(-1)
    const parameter = current ? eatParameter() : undefined
    if (current && parameter) {
      const [name, value] = parameter
      if (!Object.hasOwn(current.parameters, name)) current.parameters[name] = value
      if (!/^\s*(?:,|$)/.test(rest)) return challenges
      continue
    }
    const scheme = eat(TOKEN)
    if (scheme === undefined || !/^(?: |\s*,|\s*$)/.test(rest)) return challenges
    // A null prototype: a parameter may be called anything.
    challenges.push({ scheme: scheme.toLowerCase(), parameters: Object.create(null) })
    eat(/^ +/)
    if (!/^[^\s,="]+[ \t]*=[ \t]*[^=,\s]/.test(rest)) eat(TOKEN68)
  }
}
