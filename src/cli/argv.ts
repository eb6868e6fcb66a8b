import { failures } from '../errors.ts'
import { suggest } from '../lib/suggest.ts'
import type { Flag, FlagTable } from './flags.ts'
import { flag } from './flags.ts'

/** Flags that every command takes, before or after its words. */
export const GLOBAL_FLAGS = {
  debug: flag.boolean('print more, including stack traces'),
  help: flag.boolean('show help', { short: 'h' }),
  plugins: flag.boolean('load third-party plugins', { fallback: true }),
  verbose: flag.boolean('print every line of engines and installers while they work'),
} as const

export interface Globals {
  debug: boolean
  help: boolean
  plugins: boolean
  verbose: boolean
}

/** Takes global flags off the front, up to the first word: what is left starts with the verb. */
export function splitGlobals(argv: readonly string[]): { globals: Globals; rest: string[] } {
  const globals: Globals = { debug: false, help: false, plugins: true, verbose: false }
  let index = 0
  for (; index < argv.length; index++) {
    const token = argv[index] ?? ''
    if (!token.startsWith('-') || token === '-' || token === '--') break
    if (!takeGlobal(token, globals)) break
  }
  return { globals, rest: argv.slice(index) }
}

/** Whether the token is a global flag; if so, notes it. */
function takeGlobal(token: string, globals: Globals): boolean {
  if (token === '-h') {
    globals.help = true
    return true
  }
  const match = /^--(no-)?(debug|help|plugins|verbose)(?:=(.*))?$/.exec(token)
  if (!match) return false
  const [, no, name, value] = match
  const on = value === undefined ? true : Boolean(GLOBAL_FLAGS.debug.parse(value, name ?? ''))
  globals[name as keyof Globals] = no ? !on : on
  return true
}

/** A flag on the command line: its name, and its value, which is text unless the flag is a boolean. */
export type WrittenFlag = readonly [name: string, value: string | boolean]

export interface NormalArgv {
  /** The arguments that are not flags. */
  readonly words: string[]
  readonly flags: readonly WrittenFlag[]
  /** What stood behind `--`. */
  readonly passthrough: string[]
  /** Whether there was a `--`. */
  readonly dashes: boolean
}

/** The flags of a command, and what to say of flags of other programs. */
interface Known {
  readonly table: FlagTable
  /** By the flag's name or letter. */
  readonly hints: Readonly<Record<string, string>>
  /** Whether arguments of a server may follow `--`. */
  readonly passthrough: boolean
}

/**
 * Tells the flags behind a command's words from its other arguments. `--no-flag` is `--flag=false`, `-eX=1` is
 * `--env X=1`, and `-fp` is two flags.
 */
export function normaliseArgv(argv: readonly string[], known: Known, globals: Globals): NormalArgv {
  const { table } = known
  const words: string[] = []
  const flags: WrittenFlag[] = []
  const end = argv.indexOf('--')
  const tokens = [...(end < 0 ? argv : argv.slice(0, end))]
  const shorts = new Map(
    Object.entries(table).flatMap(([name, spec]) => (spec.short ? [[spec.short, name]] : [])),
  )

  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    if (!token.startsWith('-') || token === '-') words.push(token)
    else if (!takesOwn(token, table) && takeGlobal(token, globals)) continue
    else if (token.startsWith('--')) flags.push(longFlag(token, tokens, known))
    else flags.push(...shortFlags(token, tokens, known, shorts))
  }
  return { words, flags, passthrough: end < 0 ? [] : argv.slice(end + 1), dashes: end >= 0 }
}

const takesOwn = (token: string, table: FlagTable): boolean => {
  const name = token.replace(/^--(no-)?/, '').replace(/=.*/s, '')
  return token.startsWith('--') && Object.hasOwn(table, name)
}

function longFlag(token: string, rest: string[], known: Known): WrittenFlag {
  const { table } = known
  const at = token.indexOf('=')
  const written = at < 0 ? token.slice(2) : token.slice(2, at)
  const value = at < 0 ? undefined : token.slice(at + 1)
  const negated = written.startsWith('no-') && !Object.hasOwn(table, written)
  const name = negated ? written.slice(3) : written
  const spec = Object.hasOwn(table, name) ? table[name] : undefined
  if (!spec || (negated && spec.kind !== 'boolean')) throw unknownFlag(`--${written}`, known)
  if (spec.kind === 'boolean') {
    const on = value === undefined ? true : Boolean(spec.parse(value, name))
    return [name, on !== negated]
  }
  return withValue(name, spec, value, rest)
}

function withValue(
  name: string,
  spec: Flag<unknown>,
  value: string | undefined,
  rest: string[],
): WrittenFlag {
  const text = value ?? rest.shift()
  if (text === undefined) throw failures.usage({ text: `--${name} needs a value (${spec.placeholder}).` })
  return [name, text]
}

function shortFlags(
  token: string,
  rest: string[],
  known: Known,
  shorts: ReadonlyMap<string, string>,
): WrittenFlag[] {
  const { table } = known
  const out: WrittenFlag[] = []
  for (let i = 1; i < token.length; i++) {
    const letter = token[i] ?? ''
    const name = shorts.get(letter)
    const spec = name === undefined ? undefined : table[name]
    if (name === undefined || !spec) throw unknownFlag(inToken(token, letter), known, letter)
    const tail = token.slice(i + 1)
    if (spec.kind !== 'boolean') {
      out.push(withValue(name, spec, tail ? tail.replace(/^=/, '') : undefined, rest))
      return out
    }
    if (tail.startsWith('=')) return [...out, [name, Boolean(spec.parse(tail.slice(1), name))]]
    out.push([name, true])
  }
  return out
}

const inToken = (token: string, letter: string): string =>
  token.length > 2 ? `${token} (-${letter})` : token

/** Flags by which other programs print JSON. */
const JSON_FLAGS: ReadonlySet<string> = new Set(['json', 'o', 'output'])

function unknownFlag(written: string, known: Known, name = written.slice(2)) {
  return failures.usage({ text: `There is no flag ${written} here.`, hint: flagHint(name, known) })
}

function flagHint(name: string, { table, hints, passthrough }: Known): string {
  const foreign = Object.hasOwn(hints, name) ? hints[name] : undefined
  if (foreign !== undefined) return foreign
  if (JSON_FLAGS.has(name) && table.format?.choices?.includes('json')) return 'Use `--format json`.'
  const near = suggest(name.replace(/^no-/, ''), Object.keys(table))
  if (near) return `Did you mean --${near}?`
  const list = '`--help` lists the flags.'
  return passthrough ? `Arguments of the server itself go after \`--\`; ${list}` : list
}
