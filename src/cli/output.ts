import type { Writable } from 'node:stream'
import { clean } from '../lib/printable.ts'

export { clean } from '../lib/printable.ts'

export interface Column<R> {
  readonly title: string
  readonly of: (row: R) => string
}

const GAP = '   '

/** A plain table: upper-case titles, left-aligned, no borders; control characters of foreign text taken out. */
export function formatTable<R>(columns: readonly Column<R>[], rows: readonly R[]): string {
  const lines = [columns.map(c => c.title), ...rows.map(row => columns.map(c => clean(c.of(row))))]
  const widths = columns.map((_, i) => Math.max(...lines.map(line => width(line[i] ?? ''))))
  return lines
    .map(
      line =>
        `${line
          .map((cell, i) => pad(cell, widths[i] ?? 0))
          .join(GAP)
          .trimEnd()}\n`,
    )
    .join('')
}

/** Whether a person reads it as it comes. */
export const isTerminal = (stream: Writable): boolean => 'isTTY' in stream && stream.isTTY === true

const width = (text: string): number => [...text].length
const pad = (text: string, to: number): string => text + ' '.repeat(Math.max(0, to - width(text)))
