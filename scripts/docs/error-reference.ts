import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import type { FailureRow } from '../../src/errors.ts'
import { cell } from './cell.ts'

/** One row of a table made with `defineFailures`. */
export interface DocumentedFailure {
  readonly code: string
  readonly row: FailureRow<unknown>
  /** The folder that owns it: `core`, or the name of a plugin. */
  readonly owner: string
}

/** Every failure that the sources define, in the order of owner and code. */
export async function collectFailures(): Promise<DocumentedFailure[]> {
  const files = globSync(['src/errors.ts', 'src/**/*failures.ts', 'plugins/**/*failures.ts']).toSorted()
  const found: DocumentedFailure[] = []
  for (const file of files) {
    const module = (await import(resolve(file))) as Record<string, unknown>
    const owner = /^plugins\/([^/]+)/.exec(file)?.[1] ?? 'core'
    for (const table of Object.values(module)) {
      if (typeof table !== 'object' || table === null) continue
      for (const [code, make] of Object.entries(table))
        if (hasRow(make)) found.push({ code, row: make.row, owner })
    }
  }
  const rank = ({ owner, code }: DocumentedFailure) => `${owner === 'core' ? '' : owner}/${code}`
  return found.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

const hasRow = (value: unknown): value is { row: FailureRow<unknown> } =>
  typeof value === 'function' && 'row' in value

const INTRO = `# Errors

Made from the code by \`npm run docs\`.

A failure that keelson expects has a stable code; its text may improve. The command line prints \`Error:\`, the text
and what to do; over HTTP the same failure has the status shown. Anything else is a defect in keelson: exit code 1,
HTTP 500, and \`--debug\` shows where. ‹name› stands for what a message fills in; a message that differs by
circumstance is shown in one of its forms.
`

/** `docs/errors.md`. */
export function errorReference(failures: readonly DocumentedFailure[]): string {
  const owners = Map.groupBy(failures, failure => failure.owner)
  const sections = [...owners].map(([owner, members]) => {
    const rows = members.map(({ code, row }) => {
      const { text, hint } = example(row)
      return `| \`${code}\` | ${row.status} | ${row.exit ?? 1} | ${cell(text)} | ${cell(hint)} |\n`
    })
    const title = owner === 'core' ? 'Core' : `Plugin \`${owner}\``
    return `## ${title}\n\n| Code | HTTP | Exit | Text | What to do |\n|---|---|---|---|---|\n${rows.join('')}`
  })
  return [INTRO, ...sections].join('\n')
}

/** The messages of a row with a placeholder for each detail. */
function example({ text, hint }: FailureRow<unknown>): { text: string; hint: string } {
  const details = new Proxy({}, { get: (_, key) => placeholder(String(key)) })
  return {
    text: known(text(details)),
    hint: known(String((typeof hint === 'function' ? hint(details) : hint) ?? '')),
  }
}

/** A message may look words up by a detail; a placeholder finds none. */
const known = (message: string): string => message.replaceAll('undefined', '‹…›')

/** Stands for a text, a number or a list of either, whatever a message does with it. */
function placeholder(name: string): unknown {
  const shown = `‹${name}›`
  return new Proxy(() => shown, {
    apply: () => shown,
    get: (_, key) => {
      if (key === Symbol.toPrimitive || key === 'toString') return () => shown
      if (key === Symbol.iterator) return [shown][Symbol.iterator].bind([shown])
      if (key === 'length') return 1
      const list: unknown = Reflect.get([shown], key)
      return typeof list === 'function' && ['map', 'join', 'filter', 'flatMap', 'slice'].includes(String(key))
        ? list.bind([shown])
        : placeholder(name)
    },
  })
}
