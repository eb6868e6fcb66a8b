import { isObject } from '../../../../src/lib/is-object.ts'
import { FUNCTION_NAMES, FUNCTIONS, isTrue, memberOf, printed } from './functions.ts'
import { type Node, type Operand, type Pipe, parseTemplate } from './parse.ts'
import { TemplateProblem } from './tokens.ts'

/** A template that has been read. */
export interface Template {
  /** Fails with `TemplateProblem`. */
  render(data: unknown): string
}

const MAX_OUTPUT = 10 * 2 ** 20
const TOO_LONG = 'it gets longer than 10 MiB'
/** Nodes that one rendering may go through: a `range` in a `range` does not go on for ever. */
const MAX_STEPS = 1_000_000

/** Reads a template. Fails with `TemplateProblem`. */
export function readTemplate(template: string): Template {
  const nodes = parseTemplate(template, FUNCTION_NAMES)
  return { render: data => render(nodes, data) }
}

interface Rendering {
  readonly pieces: string[]
  size: number
  steps: number
}

/** Variables of one block and of those around it. */
class Scope {
  readonly #values = new Map<string, unknown>()
  readonly #around: Scope | undefined

  constructor(around?: Scope) {
    this.#around = around
  }

  declare(name: string, value: unknown): void {
    this.#values.set(name, value)
  }

  assign(name: string, value: unknown): void {
    this.#of(name).#values.set(name, value)
  }

  get = (name: string): unknown => this.#of(name).#values.get(name)

  #of(name: string): Scope {
    if (this.#values.has(name)) return this
    if (!this.#around) throw new TemplateProblem(`there is no variable ${name}`)
    return this.#around.#of(name)
  }
}

function render(nodes: readonly Node[], data: unknown): string {
  const rendering: Rendering = { pieces: [], size: 0, steps: 0 }
  const scope = new Scope()
  scope.declare('$', data)
  renderAll(nodes, { data, scope }, rendering)
  return rendering.pieces.join('')
}

interface Place {
  /** What `.` is. */
  readonly data: unknown
  readonly scope: Scope
}

function renderAll(nodes: readonly Node[], place: Place, rendering: Rendering): void {
  for (const node of nodes) {
    countStep(rendering)
    if (node.kind === 'text') write(node.text, rendering)
    else if (node.kind === 'print') {
      const value = evaluate(node.pipe, place)
      if (node.pipe.variables.length === 0) write(printed(value), rendering)
    } else renderBlock(node, place, rendering)
  }
}

function countStep(rendering: Rendering): void {
  rendering.steps += 1
  if (rendering.steps > MAX_STEPS) throw new TemplateProblem('it takes too many steps')
}

function write(text: string, rendering: Rendering): void {
  rendering.size += text.length
  if (rendering.size > MAX_OUTPUT) throw new TemplateProblem(TOO_LONG)
  rendering.pieces.push(text)
}

type Block = Exclude<Node, { kind: 'text' | 'print' }>

function renderBlock(block: Block, { data, scope: around }: Place, rendering: Rendering): void {
  const { kind, pipe, then, otherwise } = block
  const scope = new Scope(around)
  const value = kind === 'range' ? valueOfPipe(pipe, { data, scope }) : evaluate(pipe, { data, scope })
  if (!isTrue(value)) renderAll(otherwise, { data, scope: new Scope(around) }, rendering)
  else if (kind === 'range') renderEach(block, value, scope, rendering)
  else renderAll(then, { data: kind === 'with' ? value : data, scope }, rendering)
}

function renderEach({ pipe, then }: Block, value: unknown, scope: Scope, rendering: Rendering): void {
  const [first, second] = pipe.variables
  for (const [key, item] of entriesOf(value)) {
    countStep(rendering)
    const inner = new Scope(scope)
    if (first !== undefined) inner.declare(first, second === undefined ? item : key)
    if (second !== undefined) inner.declare(second, item)
    renderAll(then, { data: item, scope: inner }, rendering)
  }
}

/** Members of objects come in the order of their names, as in Go. */
function entriesOf(value: unknown): Iterable<readonly [unknown, unknown]> {
  if (Array.isArray(value)) return value.entries()
  if (isObject(value)) return Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  throw new TemplateProblem('`range` over something that is no list or object')
}

/** The value of a pipe. Its variables get it. */
function evaluate(pipe: Pipe, place: Place): unknown {
  const value = valueOfPipe(pipe, place)
  for (const name of pipe.variables) {
    if (pipe.declares) place.scope.declare(name, value)
    else place.scope.assign(name, value)
  }
  return value
}

function valueOfPipe({ commands }: Pipe, place: Place): unknown {
  let last: { readonly value: unknown } | undefined
  for (const command of commands) last = { value: run(command, last, place) }
  return last?.value
}

/** @param last the result of the command before, which is the last argument of this one */
function run(
  [first, ...operands]: readonly Operand[],
  last: { readonly value: unknown } | undefined,
  place: Place,
): unknown {
  if (first?.kind !== 'function') {
    if (operands.length > 0 || last) throw new TemplateProblem('only functions take arguments')
    return first && operandValue(first, place)
  }
  const values = (function* () {
    for (const operand of operands) yield operandValue(operand, place)
    if (last) yield last.value
  })()
  if (first.name === 'and' || first.name === 'or') return decide(first.name, values)
  const value = FUNCTIONS.get(first.name)?.(...values)
  if (typeof value === 'string' && value.length > MAX_OUTPUT) throw new TemplateProblem(TOO_LONG)
  return value
}

function decide(name: 'and' | 'or', values: Iterable<unknown>): unknown {
  let decided: unknown
  for (const value of values) {
    decided = value
    if (isTrue(value) === (name === 'or')) break
  }
  return decided
}

function operandValue(operand: Operand, place: Place): unknown {
  switch (operand.kind) {
    case 'literal':
      return operand.value
    case 'data':
      return place.data
    case 'variable':
      return place.scope.get(operand.name)
    case 'member':
      return memberOf(operandValue(operand.of, place), operand.name)
    case 'pipe':
      return valueOfPipe(operand.pipe, place)
    case 'function':
      return run([operand], undefined, place)
  }
}
