import { styleText } from 'node:util'
import { clean } from '../lib/printable.ts'
import { fold } from './fold.ts'

export { clean } from '../lib/printable.ts'

/** Where a command prints: a stream, or what writes as one would. */
export interface Output {
  write(text: string | Uint8Array): unknown
}

export type Colour = 'green' | 'yellow' | 'red'

export interface Column<R> {
  readonly title: string
  readonly of: (row: R) => string
  /** Where a cell loses text when the table is wider than the terminal; without it the column keeps its width. */
  readonly cut?: 'middle' | 'end'
  /** The colour of a cell, on a terminal that shows colours. */
  readonly colour?: (row: R) => Colour | undefined
}

const GAP = '   '
/** The least width of a column that is cut. */
const LEAST = 12

/**
 * A plain table: upper-case titles, left-aligned, no borders; control characters of foreign text taken out.
 *
 * `most` is how wide it may be, in characters; columns that say where they are cut become narrower, and a table that
 * still does not fit becomes a paragraph for each row.
 */
export function formatTable<R>(
  columns: readonly Column<R>[],
  rows: readonly R[],
  { most = Number.POSITIVE_INFINITY, colours = false }: { most?: number; colours?: boolean } = {},
): string {
  const lines = [columns.map(c => c.title), ...rows.map(row => columns.map(c => clean(c.of(row))))]
  const natural = columns.map((_, i) => Math.max(...lines.map(line => width(line[i] ?? ''))))
  const room = most - GAP.length * (columns.length - 1)
  const widths = narrowed(columns, natural, room)
  if (widths.reduce((sum, one) => sum + one, 0) > room) return formatRecords(columns, rows, { most, colours })
  const cell = (text: string, i: number) => pad(cut(text, widths[i] ?? 0, columns[i]?.cut), widths[i] ?? 0)
  const plain = lines.map(line => line.map(cell))
  if (colours) for (const [at, row] of rows.entries()) paint(plain[at + 1] ?? [], columns, row)
  return plain.map(line => `${line.join(GAP).trimEnd()}\n`).join('')
}

/** Each row as a paragraph, for a terminal that not even the narrowed columns fit in. */
function formatRecords<R>(
  columns: readonly Column<R>[],
  rows: readonly R[],
  { most, colours }: { most: number; colours: boolean },
): string {
  const titles = Math.max(...columns.map(({ title }) => title.length))
  const records = rows.map(row => {
    const cells = columns.map(({ of, cut: where }) =>
      cut(clean(of(row)), Math.max(LEAST, most - titles - 2), where),
    )
    if (colours) paint(cells, columns, row)
    const line = (cell: string, i: number) => `${pad(columns[i]?.title ?? '', titles)}  ${cell}`.trimEnd()
    return cells.map((cell, i) => fold(line(cell, i), { width: most, indent: titles + 2 })).join('\n')
  })
  return `${records.join('\n\n')}\n`
}

function paint<R>(cells: string[], columns: readonly Column<R>[], row: R): void {
  for (const [i, { colour }] of columns.entries()) {
    const found = colour?.(row)
    // The stream has been asked already.
    if (found) cells[i] = styleText(found, cells[i] ?? '', { validateStream: false })
  }
}

/** Takes from the widest column that may be cut, until the columns fit. */
function narrowed(columns: readonly Column<never>[], natural: readonly number[], most: number): number[] {
  const widths = [...natural]
  const total = () => widths.reduce((sum, one) => sum + one, 0)
  for (let surplus = total() - most; surplus > 0; surplus--) {
    const widest = Math.max(LEAST, ...widths.filter((_, i) => columns[i]?.cut))
    const index = widths.findIndex((one, i) => columns[i]?.cut && one === widest)
    if (index < 0 || widest === LEAST) break
    widths[index] = widest - 1
  }
  return widths
}

function cut(text: string, to: number, where: Column<never>['cut']): string {
  const characters = [...text]
  if (!where || characters.length <= to) return text
  const tail = where === 'middle' ? Math.floor((to - DOTS.length) / 2) : 0
  const head = characters.slice(0, to - DOTS.length - tail).join('')
  return head + DOTS + characters.slice(characters.length - tail).join('')
}

const DOTS = '...'

/** How wide a table may be that somebody reads on a terminal; anything else gets it whole. */
export const widthOf = (stream: Output): number =>
  isTerminal(stream) && 'columns' in stream && typeof stream.columns === 'number' && stream.columns > 0
    ? stream.columns
    : Number.POSITIVE_INFINITY

/** Whether it shows colours: a terminal, unless NO_COLOR or its TERM says otherwise. */
export const showsColours = (stream: Output): boolean =>
  isTerminal(stream) && styleText('red', 'x', { stream: stream as unknown as NodeJS.WritableStream }) !== 'x'

/** Non-ASCII characters of our own texts, and what replaces them. The second character of some is a variation selector. */
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/\u2026/g, '...'],
  [/\u2192/g, '->'],
  [/\u2014/g, '-'],
  [/\u2019/g, "'"],
  [/\u2713/g, 'ok'],
  [/\u26a0\ufe0f|\u{1f504}|\u{1f6ab}/gu, '!'],
  [/[\u2800-\u28ff]/g, '*'],
]

/** Replaces these characters for a terminal whose locale is C or POSIX, or that has none set. */
export function toTerminal(
  text: string,
  stream: Output,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || 'C'
  if (process.platform === 'win32' || !isTerminal(stream) || !/^(C|POSIX)$/.test(locale)) return text
  return SIGNS.reduce((shown, [sign, ascii]) => shown.replace(sign, ascii), text)
}

/** Whether a person reads it as it comes or, of standard input, types it. */
export const isTerminal = (stream: object): boolean => 'isTTY' in stream && stream.isTTY === true

const width = (text: string): number => [...text].length
const pad = (text: string, to: number): string => text + ' '.repeat(Math.max(0, to - width(text)))
