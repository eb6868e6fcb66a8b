import { parseObject } from '../../src/lib/parse-object.ts'
import type { Credentials } from './assume-role.ts'
import { memberOf, textOfElement } from './sts-document.ts'

/** Reads what STS gives, as JSON or XML; undefined for what credentials cannot be. */
export function readCredentials(text: string): Credentials | undefined {
  const json = parseObject(text)
  const path = ['AssumeRoleWithWebIdentityResponse', 'AssumeRoleWithWebIdentityResult', 'Credentials']
  const found = path.reduce<unknown>(memberOf, json)
  const read = (name: string): unknown => (json ? memberOf(found, name) : textOfElement(text, name))
  const accessKeyId = asMatch(read('AccessKeyId'), /^[\w]{16,128}$/)
  const secretAccessKey = asMatch(read('SecretAccessKey'), /^[\x21-\x7e]{16,256}$/)
  const sessionToken = asMatch(read('SessionToken'), /^[\x21-\x7e]{1,8192}$/)
  const expiresAt = toTime(read('Expiration'))
  if (!accessKeyId || !secretAccessKey || !sessionToken || expiresAt === undefined) return undefined
  return { accessKeyId, secretAccessKey, sessionToken, expiresAt }
}

/** The values become headers, so that they may hold nothing that ends one. */
const asMatch = (value: unknown, pattern: RegExp): string | undefined =>
  typeof value === 'string' && pattern.test(value) ? value : undefined

/** Seconds since 1970 in JSON, ISO 8601 in XML. */
function toTime(value: unknown): number | undefined {
  const ms = typeof value === 'number' ? value * 1000 : Date.parse(typeof value === 'string' ? value : '')
  return Number.isFinite(ms) ? ms : undefined
}
