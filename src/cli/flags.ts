import { failures } from '../errors.ts'
import { parseDuration } from '../lib/duration.ts'
import { suggest } from '../lib/suggest.ts'

/** Kinds of names that a shell may complete. */
export type NameKind =
  | 'workloads'
  | 'skills'
  | 'clients'
  | 'groups'
  | 'runtimes'
  | 'secrets'
  | 'servers'
  | 'tools'

/** One flag: how it is written, read and explained. Fields, help, completion and docs come from this. */
export interface Flag<T> {
  readonly kind: 'boolean' | 'value' | 'list'
  readonly description: string
  readonly short?: string
  /** What stands for the value in help, e.g. `PORT`. */
  readonly placeholder: string
  /** The value when the flag is not given. */
  readonly fallback: T
  /** The default as help shows it; empty: none. */
  readonly shown: string
  readonly choices?: readonly string[]
  /** What a shell may complete the value with. */
  readonly completes?: 'file' | 'directory' | NameKind
  readonly hidden: boolean
  /** Reads one value (of a list: one item, which may give several). */
  parse(text: string, name: string): unknown
}

// biome-ignore lint/suspicious/noExplicitAny: a table mixes flags of different types; FlagValues restores each
export type FlagTable = Readonly<Record<string, Flag<any>>>

/** The flags of several groups in one table. */
export const flagsOfGroups = (groups: readonly { readonly flags: FlagTable }[]): FlagTable =>
  Object.assign({}, ...groups.map(({ flags }) => flags))

export type FlagValues<T extends FlagTable> = {
  readonly [K in keyof T]: T[K] extends Flag<infer V> ? V : never
}

/** The options that the flags of a table set; each may be absent. */
export type FlagOptions<T extends FlagTable> = {
  readonly [K in keyof T]?: FlagValues<T>[K] | undefined
}

/** Flags that several commands share, owned by the plugin whose feature they configure. */
export interface FlagGroup<T extends FlagTable = FlagTable> {
  /** Heading in help. */
  readonly title: string
  /** First words of the commands that take them, e.g. `run`. */
  readonly of: readonly string[]
  readonly flags: T
}

interface Extra {
  readonly short?: string
  readonly placeholder?: string
  readonly shown?: string
  readonly completes?: 'file' | 'directory' | NameKind
  readonly hidden?: boolean
}

const wrong = (name: string, text: string, wanted: string) =>
  failures.usage({ text: `--${name} takes ${wanted}, not "${text}".` })

function make<T>(
  kind: Flag<T>['kind'],
  description: string,
  fallback: T,
  placeholder: string,
  parse: Flag<T>['parse'],
  extra: Extra & { choices?: readonly string[] } = {},
): Flag<T> {
  const shown =
    fallback === undefined || fallback === false || Array.isArray(fallback) ? '' : String(fallback)
  return { kind, description, fallback, placeholder, parse, shown, hidden: false, ...extra }
}

function parseBoolean(text: string, name: string): boolean {
  if (/^(1|t|true)$/i.test(text)) return true
  if (/^(0|f|false)$/i.test(text)) return false
  throw wrong(name, text, 'true or false')
}

function parseInteger(min: number, max: number) {
  return (text: string, name: string): number => {
    const value = Number(text)
    if (!/^-?\d+$/.test(text) || value < min || value > max) {
      throw wrong(
        name,
        text,
        max === Number.MAX_SAFE_INTEGER
          ? `a whole number from ${min}`
          : `a whole number from ${min} to ${max}`,
      )
    }
    return value
  }
}

function parseChoice(choices: readonly string[]) {
  return (text: string, name: string): string => {
    if (choices.includes(text)) return text
    const near = suggest(text, choices) ?? choices.find(choice => text && choice.endsWith(text))
    throw failures.usage({
      text: `--${name} takes one of ${choices.join(', ')}, not "${text}".`,
      hint: near ? `Did you mean ${near}?` : undefined,
    })
  }
}

/** The kinds of flags there are. Without a default the value is undefined when the flag is absent. */
export const flag = {
  boolean: (
    description: string,
    { fallback = false, ...extra }: Extra & { fallback?: boolean } = {},
  ): Flag<boolean> => make('boolean', description, fallback, '', parseBoolean, extra),
  string: (description: string, extra: Extra = {}): Flag<string | undefined> =>
    make<string | undefined>('value', description, undefined, 'TEXT', text => text, extra),
  file: (description: string, extra: Extra = {}): Flag<string | undefined> =>
    make<string | undefined>('value', description, undefined, 'FILE', text => text, {
      completes: 'file',
      ...extra,
    }),
  integer: (
    description: string,
    { min = 0, max = Number.MAX_SAFE_INTEGER, ...extra }: Extra & { min?: number; max?: number } = {},
  ): Flag<number | undefined> =>
    make<number | undefined>('value', description, undefined, 'N', parseInteger(min, max), extra),
  port: (description: string, extra: Extra = {}): Flag<number | undefined> =>
    make<number | undefined>('value', description, undefined, 'PORT', parseInteger(1, 65535), extra),
  /** Milliseconds. */
  duration: (description: string, fallback?: string, extra: Extra = {}): Flag<number | undefined> =>
    make<number | undefined>(
      'value',
      description,
      fallback === undefined ? undefined : parseDuration(fallback),
      'DURATION',
      (text, name) => {
        const value = parseDuration(text)
        if (value === undefined) throw wrong(name, text, 'a duration such as 30s, 5m or 2h')
        return value
      },
      { shown: fallback ?? '', ...extra },
    ),
  choice: <const C extends readonly string[], D extends C[number] | undefined = undefined>(
    description: string,
    choices: C,
    fallback?: D,
    extra: Extra = {},
  ): Flag<C[number] | D> =>
    make<C[number] | D>('value', description, fallback as D, choices.join('|'), parseChoice(choices), {
      choices,
      ...extra,
    }),
  /** Repeatable; values may hold commas. */
  list: (description: string, placeholder: string, extra: Extra = {}): Flag<readonly string[]> =>
    make<readonly string[]>('list', description, [], placeholder, text => [text], extra),
  /** Repeatable, and split at commas. */
  commaList: (description: string, placeholder: string, extra: Extra = {}): Flag<readonly string[]> =>
    make<readonly string[]>(
      'list',
      description,
      [],
      placeholder,
      text =>
        text
          .split(',')
          .map(item => item.trim())
          .filter(Boolean),
      extra,
    ),
}
