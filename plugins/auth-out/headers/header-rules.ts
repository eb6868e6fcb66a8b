import type { Schema } from '../../../src/lib/schema.ts'
import { toTextCheck } from '../../../src/lib/text-schema.ts'
import { isProxyHeader } from '../../proxy/index.ts'
import { failures } from '../failures.ts'

/** RFC 9110, section 5.6.2: `token`. */
export const headerName: Schema<string> = {
  type: 'string',
  pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z\\-]+$",
  minLength: 1,
  maxLength: 256,
  description: 'The name of a header',
}
/** RFC 9110, section 5.5: no control characters; at most what servers take. */
export const headerValue: Schema<string> = {
  type: 'string',
  pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$',
  maxLength: 8192,
  description: 'No control characters, none beyond Latin-1',
}
const isName = toTextCheck(headerName)
const isValue = toTextCheck(headerValue)

/** They say how the body is read, or what the client understands; another value would break the protocol. */
const OF_THE_MESSAGE: ReadonlySet<string> = new Set(['accept', 'content-encoding', 'content-type', 'origin'])

/** Fails with `header_refused` for a name that cannot be one, or whose header is not the user's to set. */
export function assertHeaderName(name: string): void {
  const key = name.toLowerCase()
  if (!isName(name)) {
    throw failures.header_refused({ name: name.slice(0, 60), problem: 'it is not a name of a header' })
  }
  if (isProxyHeader(key)) throw failures.header_refused({ name, problem: 'the proxy sets it by itself' })
  if (key.startsWith('mcp-') || OF_THE_MESSAGE.has(key)) {
    throw failures.header_refused({ name, problem: 'it belongs to the messages of the protocol' })
  }
}

/** Fails with `header_refused`; the value is not shown. */
export function assertHeaderValue(name: string, value: string): void {
  if (!isValue(value)) {
    throw failures.header_refused({
      name,
      problem: 'its value has control characters, characters beyond Latin-1 or more than 8192 characters',
    })
  }
}

/** Names whose values are mostly credentials: they are kept like secrets, whichever flag they came from. */
const CREDENTIAL = /auth|cookie|token|secret|passw|credential|api-?_?key|private-?_?key|access-?_?key|-key$/i

export const isCredential = (name: string): boolean => CREDENTIAL.test(name)
