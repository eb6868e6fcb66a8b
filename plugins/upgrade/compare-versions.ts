/**
 * A version as tags spell it: an optional `v`, one to three numbers, and an optional pre-release part.
 *
 * Ours because the package `semver` takes neither `1.2` nor numbers beyond 2^53, which tags have.
 */
export interface Version {
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint]
  readonly preliminary: readonly string[]
}

const FORM =
  /^[vV]?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/

/** Reads a version; missing numbers count as 0. Undefined when the text is not a version (Semantic Versioning 2.0.0, section 9). */
export function parseVersion(text: string): Version | undefined {
  const [, major, minor = '0', patch = '0', rest] = FORM.exec(text) ?? []
  if (major === undefined) return undefined
  const preliminary = rest?.split('.') ?? []
  if (preliminary.some(part => /^0\d+$/.test(part))) return undefined
  return { numbers: [BigInt(major), BigInt(minor), BigInt(patch)], preliminary }
}

/** Positive when `a` is newer, negative when `b` is (Semantic Versioning 2.0.0, section 11). */
export function compareVersions(a: Version, b: Version): number {
  for (const [index, number] of a.numbers.entries()) {
    const order = compare(number, b.numbers[index] ?? 0n)
    if (order !== 0) return order
  }
  if (a.preliminary.length === 0 || b.preliminary.length === 0) {
    return b.preliminary.length - a.preliminary.length
  }
  for (const [index, part] of a.preliminary.entries()) {
    const other = b.preliminary[index]
    const order = other === undefined ? 1 : compareParts(part, other)
    if (order !== 0) return order
  }
  return a.preliminary.length - b.preliminary.length
}

function compareParts(a: string, b: string): number {
  const [numeric, otherNumeric] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (numeric && otherNumeric) return compare(BigInt(a), BigInt(b))
  if (numeric !== otherNumeric) return numeric ? -1 : 1
  return compare(a, b)
}

const compare = <T extends bigint | string>(a: T, b: T): number => (a === b ? 0 : a < b ? -1 : 1)
