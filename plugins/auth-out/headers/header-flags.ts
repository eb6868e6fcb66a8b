import { failures } from '../../../src/errors.ts'
import type { HeaderForward } from '../section.ts'
import { assertHeaderName, assertHeaderValue } from './header-rules.ts'

/** Reads `Name=Value` and `Name=secret` as they were typed. What follows the first `=` is never shown. */
export function readHeaderFlags(flags: {
  plain: readonly string[]
  fromSecret: readonly string[]
}): HeaderForward {
  const plain = flags.plain.map(text => split('remote-forward-headers', text))
  const fromSecret = flags.fromSecret.map(text => split('remote-forward-headers-secret', text))
  for (const [name, value] of plain) assertHeaderValue(name, value)
  return {
    ...(plain.length ? { add_plaintext_headers: Object.fromEntries(plain) } : {}),
    ...(fromSecret.length
      ? { add_headers_from_secret: Object.fromEntries(fromSecret.map(([name, key]) => [name, key.trim()])) }
      : {}),
  }
}

function split(flag: string, text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 0) {
    throw failures.usage({ text: `--${flag} takes NAME=${flag.endsWith('secret') ? 'SECRET' : 'VALUE'}.` })
  }
  const name = text.slice(0, at).trim()
  assertHeaderName(name)
  return [name, text.slice(at + 1)]
}

/** Headers of a registry entry under those that the user gave; names are compared without regard to case. */
export function mergeHeaders(under: HeaderForward, over: HeaderForward): HeaderForward {
  const taken = new Set(
    [over.add_plaintext_headers, over.add_headers_from_secret].flatMap(headers =>
      Object.keys(headers ?? {}).map(name => name.toLowerCase()),
    ),
  )
  const merge = (below: Record<string, string> = {}, above: Record<string, string> = {}) => ({
    ...Object.fromEntries(Object.entries(below).filter(([name]) => !taken.has(name.toLowerCase()))),
    ...above,
  })
  return {
    add_plaintext_headers: merge(under.add_plaintext_headers, over.add_plaintext_headers),
    add_headers_from_secret: merge(under.add_headers_from_secret, over.add_headers_from_secret),
  }
}
