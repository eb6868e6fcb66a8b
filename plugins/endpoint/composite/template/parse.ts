import { type Part, splitTemplate, TemplateProblem, type Token } from './tokens.ts'

/** What a template is made of. */
export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly pipe: Pipe }
  | {
      readonly kind: 'if' | 'with' | 'range'
      readonly pipe: Pipe
      readonly then: readonly Node[]
      readonly otherwise: readonly Node[]
    }

/** Commands, of which each gets the result of the one before as its last argument. */
export interface Pipe {
  /** Variables that get the result; for `range`, the index and the item. */
  readonly variables: readonly string[]
  /** Whether the variables are new ones (`:=`). */
  readonly declares: boolean
  readonly commands: readonly (readonly Operand[])[]
}

export type Operand =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'data' }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'pipe'; readonly pipe: Pipe }
  | { readonly kind: 'member'; readonly of: Operand; readonly name: string }

const MAX_DEPTH = 100
const CONSTANTS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['nil', null],
])
const UNSUPPORTED = new Set(['define', 'template', 'block', 'break', 'continue'])

/**
 * Reads a template (Go's text/template, without `define`, `template`, `block`, `break` and `continue`). Fails with
 * `TemplateProblem`.
 *
 * @param functions the names that it may call
 */
export function parseTemplate(template: string, functions: ReadonlySet<string>): readonly Node[] {
  const parts = splitTemplate(template)
  const reader = { parts, at: 0, functions }
  const nodes = readNodes(reader, 0)
  if (reader.at < parts.length) throw new TemplateProblem(`"${wordOf(parts[reader.at])}" without its "if"`)
  return nodes
}

interface Reader {
  readonly parts: readonly Part[]
  at: number
  readonly functions: ReadonlySet<string>
}

const wordOf = (part: Part | undefined): string | undefined =>
  part?.kind === 'action' && part.tokens[0]?.kind === 'word' ? part.tokens[0].text : undefined

/** Reads up to `else`, `end` or the end of the template. */
function readNodes(reader: Reader, depth: number): Node[] {
  if (depth > MAX_DEPTH) throw new TemplateProblem(`it is nested deeper than ${MAX_DEPTH} levels`)
  const nodes: Node[] = []
  for (;;) {
    const part = reader.parts[reader.at]
    const word = wordOf(part)
    if (!part || word === 'else' || word === 'end') return nodes
    reader.at += 1
    if (part.kind === 'text') nodes.push(part)
    else if (word === 'if' || word === 'with' || word === 'range') {
      nodes.push(readBlock(reader, word, part.tokens.slice(1), depth))
    } else if (word !== undefined && UNSUPPORTED.has(word)) {
      throw new TemplateProblem(`"${word}" is not supported`)
    } else nodes.push({ kind: 'print', pipe: readPipe(part.tokens, reader.functions) })
  }
}

function readBlock(
  reader: Reader,
  kind: 'if' | 'with' | 'range',
  tokens: readonly Token[],
  depth: number,
): Node {
  const pipe = readPipe(tokens, reader.functions)
  const then = readNodes(reader, depth + 1)
  const next = reader.parts[reader.at]
  if (next?.kind !== 'action') throw new TemplateProblem(`"${kind}" without "end"`)
  reader.at += 1
  if (wordOf(next) === 'end') return { kind, pipe, then, otherwise: [] }
  const [, again, ...condition] = next.tokens
  if (again?.kind === 'word' && (again.text === 'if' || again.text === 'with')) {
    return { kind, pipe, then, otherwise: [readBlock(reader, again.text, condition, depth + 1)] }
  }
  const otherwise = readNodes(reader, depth + 1)
  if (wordOf(reader.parts[reader.at]) !== 'end') throw new TemplateProblem(`"${kind}" without "end"`)
  reader.at += 1
  return { kind, pipe, then, otherwise }
}

function readPipe(tokens: readonly Token[], functions: ReadonlySet<string>): Pipe {
  const assigns = tokens.findIndex(token => token.kind === 'sign' && /^:?=$/.test(token.text))
  const variables = tokens.slice(0, Math.max(assigns, 0)).filter(({ kind }) => kind === 'variable')
  const cursor = { tokens, at: assigns + 1, depth: 0, functions }
  const commands = readCommands(cursor)
  if (cursor.at < tokens.length)
    throw new TemplateProblem(`"${tokens[cursor.at]?.text}" is in the wrong place`)
  return { variables: variables.map(({ text }) => text), declares: tokens[assigns]?.text === ':=', commands }
}

interface Cursor {
  readonly tokens: readonly Token[]
  at: number
  depth: number
  readonly functions: ReadonlySet<string>
}

function readCommands(cursor: Cursor): Operand[][] {
  const commands: Operand[][] = [[]]
  for (;;) {
    const token = cursor.tokens[cursor.at]
    const isPipe = token?.kind === 'sign' && token.text === '|'
    if (!token || isPipe || (token.kind === 'sign' && token.text === ')')) {
      if (commands.at(-1)?.length === 0) throw new TemplateProblem('a value is missing')
      if (!isPipe) return commands
      commands.push([])
      cursor.at += 1
    } else commands.at(-1)?.push(readOperand(cursor, token))
  }
}

/** An operand with the members that are taken of it: `.a.b`, `$x.a`, `(f .).a`. */
function readOperand(cursor: Cursor, first: Token): Operand {
  let operand = readStart(cursor, first)
  for (;;) {
    const token = cursor.tokens[cursor.at]
    if (token?.kind !== 'field' || !token.isJoined || token.text === '.') return operand
    operand = { kind: 'member', of: operand, name: token.text.slice(1) }
    cursor.at += 1
  }
}

function readStart(cursor: Cursor, token: Token): Operand {
  cursor.at += 1
  switch (token.kind) {
    case 'literal':
      return { kind: 'literal', value: token.value }
    case 'variable':
      return { kind: 'variable', name: token.text }
    case 'field':
      return token.text === '.'
        ? { kind: 'data' }
        : { kind: 'member', of: { kind: 'data' }, name: token.text.slice(1) }
    case 'word':
      if (CONSTANTS.has(token.text)) return { kind: 'literal', value: CONSTANTS.get(token.text) }
      if (!cursor.functions.has(token.text)) {
        throw new TemplateProblem(`there is no function "${token.text}"`)
      }
      return { kind: 'function', name: token.text }
    case 'sign':
      if (token.text === '(') return readGroup(cursor)
      throw new TemplateProblem(`"${token.text}" is in the wrong place`)
  }
}

function readGroup(cursor: Cursor): Operand {
  cursor.depth += 1
  if (cursor.depth > MAX_DEPTH) throw new TemplateProblem(`it is nested deeper than ${MAX_DEPTH} levels`)
  const commands = readCommands(cursor)
  if (cursor.tokens[cursor.at]?.text !== ')') throw new TemplateProblem('"(" without ")"')
  cursor.at += 1
  cursor.depth -= 1
  return { kind: 'pipe', pipe: { variables: [], declares: false, commands } }
}
