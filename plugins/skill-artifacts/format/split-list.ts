/**
 * Splits a text into the items of a list: at commas when it has any, else at blanks. It does not split
 * inside parentheses: `Bash(git add *) Read` has two items.
 */
export function splitList(text: string): { readonly items: readonly string[]; readonly byCommas: boolean } {
  const byCommas = separated(text, /,/)
  return byCommas.length > 1
    ? { items: byCommas.map(item => item.trim()).filter(Boolean), byCommas: true }
    : { items: separated(text, /\s/).filter(Boolean), byCommas: false }
}

function separated(text: string, separator: RegExp): string[] {
  const items = ['']
  let depth = 0
  for (const char of isBalanced(text) ? text : text.replace(/[()]/g, '')) {
    if (char === '(') depth++
    if (char === ')') depth--
    if (depth === 0 && separator.test(char)) items.push('')
    else items[items.length - 1] += char
  }
  return items
}

function isBalanced(text: string): boolean {
  let depth = 0
  for (const char of text) {
    if (char === '(') depth++
    if (char === ')' && --depth < 0) return false
  }
  return depth === 0
}
