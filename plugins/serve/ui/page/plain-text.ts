/** A whole ANSI sequence (ECMA-48): colours, cursor moves, titles of windows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g
/** What moves text about or hides it: control characters, and overrides of the writing direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Text of strangers as it may be shown: nothing in it acts on the text around it. */
export const plainText = (value: unknown): string => String(value).replace(ESCAPES, '').replace(UNSEEN, '')
