import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'

/**
 * Whether a body is the text that its bytes are in UTF-8: a server that decodes it otherwise would read another
 * message. A quoted parameter could hide a charset, or look like one.
 */
export function isPlainText({ headers }: IncomingMessage, body: Buffer): boolean {
  const { 'content-type': type = '', 'content-encoding': encoding = '' } = headers
  return (
    (!type.includes(';') || hasPlainParameters(type)) &&
    (encoding === '' || encoding.toLowerCase() === 'identity') &&
    isUtf8(body)
  )
}

function hasPlainParameters(type: string): boolean {
  const [, ...parameters] = type.split(';')
  return parameters.every(parameter => PLAIN_PARAMETER.test(parameter.trim()))
}

const PLAIN_PARAMETER = /^(?:charset=(?:utf-?8|"utf-?8")?|(?!charset)[^"=\s]+=[^"\s]*)?$/i
