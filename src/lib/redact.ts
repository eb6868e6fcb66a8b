const SECRET_KEY =
  /(password|passwd|secret|token|authorization|api[-_]?key|credential|cookie|private[-_]?key)/i
const PATTERNS: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/g, '$1 [redacted]'],
  [/(:\/\/[^/\s:@]+:)[^@\s/]+@/g, '$1[redacted]@'],
  // What looks ahead is not tried again: a long word without "=" is read twice, not once for each of its parts.
  // `TOKEN=VALUE` alone is what hints tell people to type.
  [
    /\b(?=[A-Z0-9_]*(?:TOKEN|SECRET|PASSWORD|API_KEY|CREDENTIAL))([A-Z0-9_]+)=(?!VALUE(?:`|\s|$))\S+/g,
    '$1=[redacted]',
  ],
  [/([?&](?:access_token|token|code|client_secret|api_key|key|password)=)[^&\s#]+/gi, '$1[redacted]'],
  [/\b(gh[pousr]_|github_pat_|sk-|xox[abprs]-)[A-Za-z0-9_-]{10,}/g, '$1[redacted]'],
]

/** Every pattern has one of these in it; most texts that are looked at are paths and names without. */
const MAY_HIDE = /[\s=@_-]/

/** What is nested deeper is hidden as a whole. */
const DEEPEST = 12

/** Hides what looks like a secret: by the name of its member, or by its shape in a text. */
export function redact<T>(value: T, depth = 0): T {
  if (typeof value === 'string') {
    if (!MAY_HIDE.test(value)) return value
    let text: string = value
    for (const [pattern, replacement] of PATTERNS) text = text.replace(pattern, replacement)
    return text as T
  }
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  if (depth > DEEPEST) return '[redacted]' as T
  if (value instanceof Error) return redact(value.message, depth + 1) as T
  if (Array.isArray(value)) return value.map(item => redact(item, depth + 1)) as T
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      SECRET_KEY.test(key) && typeof item === 'string' ? '[redacted]' : redact(item, depth + 1),
    ]),
  ) as T
}

/** Shorter values would take half of any text with them. */
const SHORTEST = 4

/** Hides these very values in a text, also as they look inside a JSON string. */
export function redactValues(text: string, values: readonly string[]): string {
  let hidden = text
  for (const value of values.toSorted((a, b) => b.length - a.length)) {
    if (value.length < SHORTEST) continue
    const escaped = JSON.stringify(value).slice(1, -1)
    hidden = hidden.replaceAll(escaped, '[redacted]').replaceAll(value, '[redacted]')
  }
  return hidden
}
