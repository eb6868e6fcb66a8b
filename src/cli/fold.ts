import { stripVTControlCharacters } from 'node:util'

/**
 * Wraps lines that are wider than `width`. What follows a break is indented by `indent` or, by default, as far as the line
 * itself. A word that is wider than `width`, such as a URL, stays whole.
 */
export const fold = (text: string, { width, indent }: { width: number; indent?: number }): string =>
  text
    .split('\n')
    .map(line => foldLine(line, width, indent ?? line.search(/\S|$/)))
    .join('\n')

function foldLine(line: string, width: number, indent: number): string {
  if (shownLength(line) <= width) return line
  const [lead = ''] = /^\s*/.exec(line) ?? []
  const [first = '', ...words] = line.slice(lead.length).split(/(?<=\S) (?=\S)/)
  const lines: string[] = []
  let current = lead + first
  for (const word of words) {
    if (shownLength(current) + 1 + shownLength(word) <= width) current += ` ${word}`
    else {
      lines.push(current)
      current = ' '.repeat(indent) + word
    }
  }
  return [...lines, current].join('\n')
}

const shownLength = (text: string): number => [...stripVTControlCharacters(text)].length
