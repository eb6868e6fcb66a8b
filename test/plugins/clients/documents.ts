import fc from 'fast-check'
import { Document, isCollection, isScalar, type Node, visit } from 'yaml'

type Plain = Record<string, unknown>

/** Chooses as a seed says, so that a failing sample shrinks with the value it is made of. */
interface Choices {
  /** One of these. */
  pick<T>(...options: readonly T[]): T
  /** True once in so many times. */
  rarely(times: number): boolean
}

function choicesOf(seed: number): Choices {
  let state = seed | 0
  const next = (below: number) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
  return {
    pick: (...options) => options[next(options.length)] as (typeof options)[number],
    rarely: times => next(times) === 0,
  }
}

const letters = fc.string({
  unit: fc.constantFrom(...'abcXYZ019_-. /"\'#:@[]{},é🙂\\\t'),
  minLength: 0,
  maxLength: 12,
})
const keys = fc.oneof(
  fc.constantFrom(
    'type',
    'url',
    'name',
    'enabled',
    'a b',
    'a.b',
    'a/b',
    'x"y',
    "it's",
    '__proto__',
    'constructor',
    'é',
    '',
  ),
  letters,
)
const scalars = fc.oneof(
  letters,
  fc.integer(),
  fc.boolean(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)

/** An object of at most this depth; its members are scalars, lists and objects. */
const objects = (depth: number): fc.Arbitrary<Plain> =>
  fc
    .uniqueArray(
      fc.tuple(
        keys,
        depth === 0 ? scalars : fc.oneof(scalars, objects(depth - 1), fc.array(scalars, { maxLength: 3 })),
      ),
      {
        selector: ([key]) => key,
        maxLength: 4,
      },
    )
    .map(pairs => Object.fromEntries(pairs))

/** Texts of values. */
export const printed = (values: fc.Arbitrary<Plain>, print: (value: Plain, choices: Choices) => string) =>
  fc.tuple(values, fc.integer()).map(([value, seed]) => print(value, choicesOf(seed)))

/** A client's file: other settings, and (perhaps) servers below the key; never one that is called so. */
export const settings = (key: string, taken: readonly string[], shape: 'map' | 'list'): fc.Arbitrary<Plain> =>
  fc
    .tuple(
      objects(2),
      fc.option(fc.array(fc.tuple(keys, objects(1)), { maxLength: 3 }), { nil: undefined }),
      fc.nat(3),
    )
    .map(([others, servers, position]) => {
      const rest = Object.entries(others).filter(([name]) => name !== key)
      if (!servers) return Object.fromEntries(rest)
      const known = servers.filter(([name]) => !taken.includes(name))
      const section =
        shape === 'map'
          ? Object.fromEntries(known)
          : [...new Map(known)].map(([name, entry]) => ({ ...entry, name }))
      return Object.fromEntries([...rest.slice(0, position), [key, section], ...rest.slice(position)])
    })

/** JSON as people and editors write it: comments and white space anywhere, trailing commas, any line break. */
export function jsonText(value: Plain, { pick }: Choices): string {
  const eol = pick('\n', '\r\n')
  const style = pick('wild', 'pretty', 'tight', 'line')
  const unit = pick('  ', '    ', '\t')
  const remark = () => pick('', '', '', '', ` // , } ] "x${eol}`, ' /* { , */ ', `/*${eol}*/`)
  const gap = () => (style === 'wild' ? pick('', ' ', '\t', eol, `${eol}  `) + remark() : '')
  const print = (part: unknown, indent: string): string => {
    if (typeof part !== 'object' || part === null) return JSON.stringify(part)
    const [open, close] = Array.isArray(part) ? '[]' : '{}'
    const parts = Array.isArray(part)
      ? part.map(inner => print(inner, indent + unit))
      : Object.entries(part).map(([name, inner]) => {
          const space = style === 'tight' ? '' : ' '
          return `${JSON.stringify(name)}${gap()}:${space}${gap()}${print(inner, indent + unit)}`
        })
    if (parts.length === 0) return `${open}${close}`
    const trailing = style !== 'tight' && pick(true, false) ? ',' : ''
    if (style === 'pretty') {
      const lines = parts.map((text, i) => {
        const above = pick('', '', `// above${eol}${indent}${unit}`)
        const beside = pick('', '', ' // beside', ' /* beside */')
        return `${eol}${indent}${unit}${above}${text}${i < parts.length - 1 ? ',' : trailing}${beside}`
      })
      return `${open}${lines.join('')}${eol}${indent}${close}`
    }
    const comma = style === 'line' ? ', ' : ','
    return `${open}${gap()}${parts.map(text => text + gap()).join(comma + gap())}${trailing}${gap()}${close}`
  }
  return gap() + print(value, '') + pick('', eol, ' ')
}

/** YAML in block and flow style, with comments, anchors, block scalars, other indentation and line breaks. */
export function yamlText(value: Plain, { pick, rarely }: Choices): string {
  const document = new Document(value)
  let anchors = 0
  visit(document, {
    Node(_, node) {
      const it = node as Node
      if (rarely(6)) it.commentBefore = ' above: [it'
      if (rarely(6) && isScalar(it) && typeof it.value !== 'object') it.comment = ' beside } it'
      if (rarely(6)) it.spaceBefore = true
      if (rarely(6) && isCollection(it)) it.flow = pick(true, false)
      if (rarely(6) && isCollection(it)) it.anchor = `a${anchors++}`
      if (isScalar(it) && typeof it.value === 'string' && rarely(6)) {
        it.type = pick('BLOCK_LITERAL', 'BLOCK_FOLDED', 'QUOTE_SINGLE', 'QUOTE_DOUBLE')
      }
    },
  })
  const text = document.toString({
    indent: pick(2, 4),
    indentSeq: pick(true, false),
    lineWidth: 0,
  })
  const head = pick('', '# head\n', '---\n', '%YAML 1.2\n---\n')
  const whole = head + text + pick('', '# tail\n', '\n')
  const ended = pick(true, false) ? whole : whole.replace(/\n$/, '')
  return pick(true, false) ? ended : ended.replaceAll('\n', '\r\n')
}

/** TOML with tables, dotted keys, inline tables, arrays over several lines, all kinds of strings, and comments. */
export function tomlText(value: Plain, { pick, rarely: once }: Choices, section: string): string {
  const eol = pick('\n', '\r\n')
  const rarely = () => once(5)
  const key = (name: string) => (/^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name))
  const string = (text: string) => {
    const plain = !/['\t\\\n]/.test(text)
    if (plain && rarely()) return `'${text}'`
    if (plain && rarely()) return `'''${eol}${text}'''`
    if (rarely()) return `"""${eol}${JSON.stringify(text).slice(1, -1)}"""`
    return JSON.stringify(text)
  }
  const inline = (part: unknown): string => {
    if (typeof part === 'string') return string(part)
    if (Array.isArray(part)) {
      if (part.length === 0) return '[]'
      if (rarely()) return `[${eol}${part.map(inner => `  ${inline(inner)}, # ] , [${eol}`).join('')}]`
      return `[${part.map(inline).join(', ')}]`
    }
    if (typeof part === 'object' && part !== null) {
      const pairs = Object.entries(part).map(([name, inner]) => `${key(name)} = ${inline(inner)}`)
      return pairs.length ? `{ ${pairs.join(', ')} }` : '{}'
    }
    return typeof part === 'number' && !Number.isInteger(part) ? floatOf(part) : String(part)
  }
  const remark = () => pick('', '', ' # [x] = "', '\t#')
  const above = () => pick('', '', '', `# [a] above${eol}`, eol)
  const isTable = (part: unknown): part is Plain =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
  const isTables = (part: unknown): part is Plain[] =>
    Array.isArray(part) && part.length > 0 && part.every(isTable)

  const body = (table: Plain, path: readonly string[]): string => {
    let pairs = ''
    let tables = ''
    for (const [name, part] of Object.entries(table)) {
      const full = [...path, name]
      const own = path.length === 0 && name === section ? !once(3) : !rarely()
      if (isTable(part) && own) tables += head(`[${full.map(key).join('.')}]`) + body(part, full)
      else if (isTables(part) && own) {
        for (const element of part) tables += head(`[[${full.map(key).join('.')}]]`) + body(element, full)
      } else if (isTable(part) && Object.keys(part).length && rarely()) {
        for (const [inner, one] of Object.entries(part)) {
          pairs += `${above()}${key(name)} . ${key(inner)} = ${inline(one)}${remark()}${eol}`
        }
      } else pairs += `${above()}${key(name)} = ${inline(part)}${remark()}${eol}`
    }
    return pairs + tables
  }
  const head = (text: string) => `${above()}${text}${remark()}${eol}`
  const whole = body(value, []) + pick('', '# tail\n', '\n\n')
  return pick(true, false) ? whole : whole.replace(/\r?\n$/, '')
}

/** TOML wants a digit on both sides of a dot and at most one exponent. */
function floatOf(value: number): string {
  const text = String(value)
  return /[.e]/.test(text) ? text : `${text}.0`
}
