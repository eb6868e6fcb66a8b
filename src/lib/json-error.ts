import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'

/**
 * What is wrong with a JSON text and where, as an editor counts. The engine's own message quotes
 * the text, which may hold secrets, and often leaves the place out.
 */
export function describeJsonError(text: string): string {
  const errors: ParseError[] = []
  parse(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false })
  const [first] = errors
  if (!first) return 'it is not a JSON object'
  const before = text.slice(0, first.offset).split('\n')
  const words = printParseErrorCode(first.error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  return `${words} at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}
