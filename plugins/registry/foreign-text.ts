import { clean } from '../../src/lib/printable.ts'

/** A stranger's text for a terminal: one line, without control characters, of at most so many characters. */
export function foreignText(text: string, most: number): string {
  const line = [...clean(text).replace(/\s+/g, ' ').trim()]
  return line.length > most ? `${line.slice(0, most - 1).join('')}…` : line.join('')
}
