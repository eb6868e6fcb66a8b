import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'

/**
 * Whether a body is the text that its bytes are in UTF-8: a server that decodes it otherwise would read another
 * message. A quoted parameter could hide a charset, or look like one.
 */
export function isPlainText({ headers }: IncomingMessage, body: Buffer): boolean {
  const [, ...parameters] = (headers['content-type'] ?? '').split(';')
  return (
    parameters.every(parameter => PLAIN_PARAMETER.test(parameter.trim())) &&
    /^(?:identity)?$/i.test(headers['content-encoding'] ?? '') &&
    isUtf8(body)
  )
}

const PLAIN_PARAMETER = /^(?:charset=(?:utf-?8|"utf-?8")?|(?!charset)[^"=\s]+=[^"\s]*)?$/i
