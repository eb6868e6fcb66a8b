import type { NameTest } from './find-references.ts'

/** Prepares a test of names. */
export const toMatcher = (test: NameTest): ((name: string) => boolean) =>
  'equals' in test ? name => name === test.equals : toLikeMatcher(test.like)

/**
 * The operator `like` of Cedar, in which a wildcard stands for any characters. Between wildcards there are only texts,
 * so looking for each as far left as possible finds a match if there is one.
 */
function toLikeMatcher(pattern: readonly unknown[]): (name: string) => boolean {
  const parts: string[] = ['']
  for (const element of pattern) {
    if (element === 'Wildcard') parts.push('')
    else parts[parts.length - 1] += (element as { Literal: string }).Literal
  }
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return name => name === first
  const middle = rest.filter(Boolean)
  return name => {
    if (!name.startsWith(first)) return false
    let from = first.length
    for (const part of middle) {
      const at = name.indexOf(part, from)
      if (at < 0) return false
      from = at + part.length
    }
    return name.length - last.length >= from && name.endsWith(last)
  }
}
