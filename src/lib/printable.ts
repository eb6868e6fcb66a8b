import { Transform } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'

/**
 * What can steer a terminal, or make text read in another order than it is written: C0 and C1 controls
 * and DEL (ECMA-48), the bidirectional marks, embeddings, overrides and isolates (Unicode UAX #9), and
 * the separators of lines and paragraphs. A line feed and a tab are left out where text has lines.
 */
const STEERING = '\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u206f'
const ON_ONE_LINE = new RegExp(`[\\u0000-\\u001f${STEERING}]+`, 'g')
const IN_LINES = new RegExp(`[\\u0000-\\u0008\\u000b-\\u001f${STEERING}]`, 'g')
const IN_JSON = new RegExp(`[${STEERING}]`, 'g')
/** Colours and the like ("Select Graphic Rendition", ECMA-48 8.3.117), which change how text looks and nothing else. */
const COLOUR_OR_STEERING = new RegExp(`\\u001b\\[[\\d;:]*m|${IN_LINES.source}`, 'g')

const escapeOne = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Foreign text on one line, unable to steer a terminal: controls become spaces. */
export const clean = (text: string): string => stripVTControlCharacters(text).replace(ON_ONE_LINE, ' ')

/** Foreign text that may have several lines, unable to steer a terminal: controls are shown as `\u001b`. */
export const printable = (text: string): string =>
  stripVTControlCharacters(text).replaceAll('\r\n', '\n').replace(IN_LINES, escapeOne)

/** The same JSON in characters that cannot steer a terminal; `JSON.stringify` itself escapes C0 only. */
export const printableJson = (json: string): string => json.replace(IN_JSON, escapeOne)

/** How much of an unfinished colour is waited for. */
const MOST_CARRIED = 64

/** Makes a stream of text printable as `printable` does, but for colours, which are reset at its end. */
export function printableStream(): Transform {
  const decoder = new StringDecoder('utf8')
  let carried = ''
  let coloured = false

  const pass = (text: string): string =>
    text.replaceAll('\r\n', '\n').replace(COLOUR_OR_STEERING, found => {
      if (found.length === 1) return escapeOne(found)
      coloured = true
      return found
    })

  return new Transform({
    transform(chunk: Buffer | string, _encoding, done) {
      const text = carried + (typeof chunk === 'string' ? chunk : decoder.write(chunk))
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the beginning of what is looked for
      const unfinished = /(?:\u001b(?:\[[\d;:]*)?|\r)$/.exec(text)?.[0] ?? ''
      carried = unfinished.length > MOST_CARRIED ? '' : unfinished
      done(null, pass(text.slice(0, text.length - carried.length)))
    },
    flush(done) {
      const rest = pass(carried + decoder.end())
      done(null, coloured ? `${rest}\u001b[0m` : rest)
    },
  })
}
