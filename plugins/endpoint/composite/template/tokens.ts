/** A part of a template: text that stays, or what stands in one pair of braces. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly tokens: readonly Token[] }

export type Token =
  /** `.` or `.name`: the data, or a member of what stands before it. `isJoined`: no space stands before it. */
  | { readonly kind: 'field'; readonly text: string; readonly isJoined: boolean }
  | { readonly kind: 'variable' | 'word'; readonly text: string }
  | { readonly kind: 'literal'; readonly text: string; readonly value: unknown }
  | { readonly kind: 'sign'; readonly text: string }

/** What is wrong with a template, for people. */
export class TemplateProblem extends Error {}

/** A value that a template prints is not there. */
export class AbsentValue extends TemplateProblem {}

const SPACE = /^\s+/
const WORD = /^[A-Za-z_]\w*/
const VARIABLE = /^\$\w*/
const FIELD = /^\.(?:[A-Za-z_]\w*)?/
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/
const QUOTED = /^"(?:[^"\\\n]|\\.)*"/
const RAW = /^`[^`]*`/
const SIGN = /^(?::=|[=|(),])/
/** What may have braces in it. */
const SKIPPED = /"(?:[^"\\\n]|\\.)*"|`[^`]*`|\/\*[\s\S]*?\*\//y
const COMMENT = /^\/\*[\s\S]*?\*\/$/

/** Splits a template of Go's text/template. `{{-` and `-}}` take the spaces beside them away. Fails with `TemplateProblem`. */
export function splitTemplate(template: string): Part[] {
  const parts: Part[] = []
  let at = 0
  let trims = false
  while (at < template.length) {
    const open = template.indexOf('{{', at)
    const text = template.slice(at, open === -1 ? undefined : open)
    const body = open === -1 ? undefined : actionAt(template, open)
    const kept = trim(text, { start: trims, end: body?.trimsBefore ?? false })
    if (kept !== '') parts.push({ kind: 'text', text: kept })
    if (!body) break
    if (!COMMENT.test(body.text)) parts.push({ kind: 'action', tokens: readTokens(body.text) })
    at = body.end
    trims = body.trimsAfter
  }
  return parts
}

function trim(text: string, { start, end }: { start: boolean; end: boolean }): string {
  const begun = start ? text.trimStart() : text
  return end ? begun.trimEnd() : begun
}

/** What stands in the braces that open at a position. Braces within quotes close nothing. */
function actionAt(template: string, open: number) {
  const trimsBefore = /^\{\{-\s/.test(template.slice(open, open + 4))
  const start = open + (trimsBefore ? 3 : 2)
  let at = start
  while (at < template.length && !template.startsWith('}}', at)) {
    SKIPPED.lastIndex = at
    at += SKIPPED.exec(template)?.[0].length ?? 1
  }
  if (at >= template.length) throw new TemplateProblem('"{{" without "}}"')
  const body = template.slice(start, at)
  const trimsAfter = /\s-$/.test(body)
  return { text: (trimsAfter ? body.slice(0, -1) : body).trim(), trimsBefore, trimsAfter, end: at + 2 }
}

function readTokens(text: string): Token[] {
  const tokens: Token[] = []
  let rest = text
  while (rest !== '') {
    const space = SPACE.exec(rest)?.[0].length ?? 0
    const token = tokenAt(rest.slice(space), space === 0 && tokens.length > 0)
    tokens.push(token)
    rest = rest.slice(space + token.text.length).trimEnd()
  }
  return tokens
}

function tokenAt(rest: string, isJoined: boolean): Token {
  const first = (pattern: RegExp) => pattern.exec(rest)?.[0]
  const number = first(NUMBER)
  if (number !== undefined) return { kind: 'literal', text: number, value: Number(number) }
  const quoted = first(QUOTED)
  if (quoted !== undefined) return { kind: 'literal', text: quoted, value: unquote(quoted) }
  const raw = first(RAW)
  if (raw !== undefined) return { kind: 'literal', text: raw, value: raw.slice(1, -1) }
  const field = first(FIELD)
  if (field !== undefined) return { kind: 'field', text: field, isJoined }
  const variable = first(VARIABLE)
  if (variable !== undefined) return { kind: 'variable', text: variable }
  const word = first(WORD)
  if (word !== undefined) return { kind: 'word', text: word }
  const sign = first(SIGN)
  if (sign !== undefined) return { kind: 'sign', text: sign }
  throw new TemplateProblem(
    `"${rest.slice(0, 20)}" is not understood; \`index .steps "my-step"\` reaches a name with "-"`,
  )
}

function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    throw new TemplateProblem(`${quoted} has an escape that JSON does not know`)
  }
}
