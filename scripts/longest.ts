import { globSync, readFileSync } from 'node:fs'

export interface Sized {
  readonly place: string
  readonly lines: number
}

const MOST = 10
const FUNCTION = /^(\s*)(?:export )?(?:default )?(?:async )?(?:function\b|const \w+ = .*=> \{$)/

/** The longest source files and functions, longest first. Each is a place to look, not a violation. */
export function findLongest(root = '.'): { files: Sized[]; functions: Sized[] } {
  const sources = globSync(['src/**/*.ts', 'plugins/**/*.{ts,tsx,js}'], { cwd: root }).map(place => ({
    place,
    lines: readFileSync(`${root}/${place}`, 'utf8').trimEnd().split('\n'),
  }))
  return {
    files: longest(sources.map(({ place, lines }) => ({ place, lines: lines.length }))),
    functions: longest(sources.flatMap(({ place, lines }) => functionsOf(place, lines))),
  }
}

/** Relies on the formatter: a function ends at the first closing brace with the indentation of its head. */
export function functionsOf(place: string, lines: readonly string[]): Sized[] {
  return lines.flatMap((line, start) => {
    const indentation = FUNCTION.exec(line)?.[1]
    if (indentation === undefined) return []
    const length = lines.slice(start).findIndex(other => other.replace(/[;,]$/, '') === `${indentation}}`)
    return length < 0 ? [] : [{ place: `${place}:${start + 1}`, lines: length + 1 }]
  })
}

const longest = (all: readonly Sized[]): Sized[] => all.toSorted((a, b) => b.lines - a.lines).slice(0, MOST)
