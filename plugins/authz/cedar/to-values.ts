import type { CedarValueJson } from '@cedar-policy/cedar-wasm/web'
import { isObject } from '../../../src/lib/is-object.ts'
import type { Unseen } from './attribute-readers.ts'

/** What is nested deeper is left out. */
const MOST_DEPTH = 10

/** Names that mean something else in the JSON of Cedar, where strangers could write entities with them. */
const RESERVED = ['__entity', '__extn', '__expr']
const isReserved = (value: object) => RESERVED.some(name => Object.hasOwn(value, name))

/** Of a claim or an argument, in a reason. */
const LONGEST_NAME = 100
const quote = (name: string) => JSON.stringify(name.slice(0, LONGEST_NAME))

/**
 * A value of a token in the form of Cedar; undefined where it has none there. Whole numbers in the range of safe
 * integers are longs, and others with up to four digits behind the point are decimals.
 */
export function toValue(value: unknown, depth = MOST_DEPTH): CedarValueJson | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? value : undefined
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return toNumber(value)
  if (depth === 0) return undefined
  if (Array.isArray(value)) return value.flatMap(item => toValue(item, depth - 1) ?? [])
  if (!isObject(value) || isReserved(value)) return undefined
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const converted = name.isWellFormed() ? toValue(member, depth - 1) : undefined
      return converted === undefined ? [] : [[name, converted]]
    }),
  )
}

/** Whether `toValue` leaves nothing of a value out. */
function isWhole(value: unknown, depth = MOST_DEPTH): boolean {
  if (typeof value !== 'object') return toValue(value) !== undefined
  if (depth === 0) return false
  if (Array.isArray(value)) return value.every(item => isWhole(item, depth - 1))
  if (!isObject(value) || isReserved(value)) return false
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWhole(member, depth - 1))
}

function toNumber(value: number): CedarValueJson | undefined {
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value // -0 is no long
  const text = String(value)
  return DECIMAL.test(text) ? { __extn: { fn: 'decimal', arg: text } } : undefined
}

/** In the range of the type `decimal` of Cedar, which has 64 bits; longer ones are not exact here anyway. */
const DECIMAL = /^-?\d{1,14}\.\d{1,4}$/

/** Claims as attributes: `claim_NAME`, and `claimset_NAME` for those that are to be sets. */
export function toClaimAttributes(
  claims: Readonly<Record<string, unknown>>,
  multiValued: readonly string[],
): Record<string, CedarValueJson> {
  const attributes: [string, CedarValueJson][] = []
  for (const [name, value] of Object.entries(claims)) {
    const converted = name.isWellFormed() ? toValue(value) : undefined
    if (converted !== undefined) attributes.push([`claim_${name}`, converted])
  }
  for (const name of multiValued) {
    const set = toSet(name, Object.hasOwn(claims, name) ? claims[name] : undefined)
    if (set) attributes.push([`claimset_${name}`, set])
  }
  return Object.fromEntries(attributes)
}

/** Scopes are words in one text (RFC 8693, section 4.2); another text is a set of one. */
function toSet(name: string, value: unknown): CedarValueJson[] | undefined {
  if (typeof value === 'string' && name === 'scope') return value.split(' ').filter(Boolean)
  const set = toValue(Array.isArray(value) ? value : [value])
  return Array.isArray(set) && set.length ? set : undefined
}

/** The value of an argument in the form of Cedar; undefined where it has none, as lists and objects. */
const toArgument = (value: unknown): CedarValueJson | undefined =>
  typeof value === 'object' ? undefined : toValue(value)

/** The attributes of arguments whose values policies cannot see. */
export const unseenArguments = (args: Readonly<Record<string, unknown>> = {}): Unseen =>
  new Map(
    Object.keys(args)
      .filter(name => toArgument(args[name]) === undefined)
      .map(name => [`arg_${name}`, `the argument ${quote(name)}`]),
  )

/** The attributes of claims that policies cannot see, or not the whole of. */
export const unseenClaims = (claims: Readonly<Record<string, unknown>>): Unseen =>
  new Map(
    Object.keys(claims)
      .filter(name => !isWhole(claims[name]))
      .flatMap(name => [`claim_${name}`, `claimset_${name}`].map(one => [one, `the claim ${quote(name)}`])),
  )

/** Arguments as attributes: `arg_NAME`, or `arg_NAME_present` for what Cedar cannot compare. */
export function toArgumentAttributes(
  args: Readonly<Record<string, unknown>> = {},
): Record<string, CedarValueJson> {
  const values: [string, CedarValueJson][] = []
  const present: [string, CedarValueJson][] = []
  for (const [name, value] of Object.entries(args)) {
    if (!name.isWellFormed()) continue
    const converted = toArgument(value)
    if (converted === undefined) present.push([`arg_${name}_present`, true])
    else values.push([`arg_${name}`, converted])
  }
  // An argument that is called "x_present" does not take the place of what is said of "x".
  return Object.fromEntries([...values, ...present])
}
