import { isUtf8 } from 'node:buffer'

/** The parameter that the header `Mcp-Name` repeats (SEP-2243, SEP-2663). */
export const NAMED_BY = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

/** What is no plain field value (RFC 9110, section 5.5) is sent as Base64, marked as such. */
export const toFieldValue = (text: string): string =>
  /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
    ? text
    : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`

/** The text that a field value of `toFieldValue` stands for; undefined where it stands for none. */
export function fromFieldValue(value: string): string | undefined {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(value) ?? []
  if (base64 === undefined) return /^[\t\x20-\x7e]*$/.test(value) ? value : undefined
  const bytes = Buffer.from(base64, 'base64')
  return bytes.toString('base64') === base64 && isUtf8(bytes) ? bytes.toString('utf8') : undefined
}
