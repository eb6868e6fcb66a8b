/** A policy in a text that nothing has parsed yet. */
export interface PolicyMeasure {
  /** The offset of its first character. */
  readonly start: number
  /** How deep its expressions are, or more; in operators. */
  readonly depth: number
}

/** Cedar takes about half a millisecond to read a policy, and nothing else runs meanwhile. */
export const MOST_POLICIES = 1000

/**
 * How deep an expression may be. Cedar recurses into it, and its stack in WebAssembly holds about 350 operators in a
 * chain, or 110 brackets. When the stack overflows, no workload of the process can use Cedar any more.
 */
export const MOST_DEPTH = 200
const BRACKET_DEPTH = 3

const TOKEN =
  /(?<text>"(?:[^"\\]|\\[\s\S])*"?|\/\/[^\n\r]*)|(?<open>[([{])|(?<close>[)\]}])|(?<end>;)|(?<next>,)|(?<link>\|\||&&|\bif\b)|(?<operator>[-+*.!<>]|==)/g

/** What stands between two brackets, as far as it is read. */
interface Level {
  /** Operators of the operand that is read, and the depth of brackets in it. */
  operators: number
  inner: number
  /** The depth of the deepest operand before it, and what connects these. */
  operand: number
  links: number
  /** The depth of the deepest item before the last comma. */
  deepest: number
}

const emptyLevel = (): Level => ({ operators: 0, inner: 0, operand: 0, links: 0, deepest: 0 })

function endOperand(level: Level): void {
  level.operand = Math.max(level.operand, level.operators + level.inner)
  level.operators = level.inner = 0
}

function endItem(level: Level): void {
  endOperand(level)
  level.deepest = Math.max(level.deepest, level.links + level.operand)
  level.links = level.operand = 0
}

/** Finds the policies of a text, and how deep they are: in one pass, without recursion, and before Cedar sees them. */
export function measurePolicies(text: string): PolicyMeasure[] {
  const found: PolicyMeasure[] = []
  let start = 0
  let isBegun = false
  let level = emptyLevel()
  const outer: Level[] = []
  const close = (): void => {
    const around = outer.pop()
    if (!around) return
    endItem(level)
    around.inner = Math.max(around.inner, level.deepest + BRACKET_DEPTH)
    level = around
  }
  const endPolicy = (next: number): void => {
    while (outer.length) close()
    endItem(level)
    const space = text.slice(start).search(/\S/)
    if (isBegun) found.push({ start: start + space, depth: level.deepest })
    start = next
    isBegun = false
    level = emptyLevel()
  }
  for (const { groups = {}, index } of text.matchAll(TOKEN)) {
    if (groups.open) {
      isBegun = true
      outer.push(level)
      level = emptyLevel()
    } else if (groups.close) close()
    else if (groups.operator) level.operators++
    else if (groups.link) {
      endOperand(level)
      level.links++
    } else if (groups.next) endItem(level)
    else if (groups.end) endPolicy(index + 1)
  }
  endPolicy(text.length)
  return found
}
