/** A whole ANSI sequence (ECMA-48): colours, cursor moves, titles of windows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g
/**
 * What acts on the text around it or cannot be seen: control characters, marks and overrides of the writing direction
 * (UAX #9), separators of lines, and the letters of language tags (Unicode, section 23.9), which can hide a whole text.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is shown as escapes
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\u{e0000}-\u{e007f}]/gu

const escapeOne = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

/** Text of strangers as it may be shown: what would act on the text around it is seen as `\u202e`. */
export const plainText = (value: unknown): string =>
  String(value).replace(ESCAPES, '').replaceAll('\r\n', '\n').replace(UNSEEN, escapeOne)
