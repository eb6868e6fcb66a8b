import { clean } from '../../src/lib/printable.ts'

/** Prepares a stranger's text for a terminal: `clean`, with white space collapsed, cut to `most` characters. */
export function foreignText(text: string, most: number): string {
  const line = [...clean(text).replace(/\s+/g, ' ').trim()]
  return line.length > most ? `${line.slice(0, most - 1).join('')}…` : line.join('')
}
