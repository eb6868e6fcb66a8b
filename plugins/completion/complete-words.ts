import type { App } from '../../src/app.ts'
import { GLOBAL_FLAGS, splitGlobals } from '../../src/cli/argv.ts'
import type { CommandClass } from '../../src/cli/base-command.ts'
import { commandsOf, findCommand, flagsOf } from '../../src/cli/command-table.ts'
import type { Flag, FlagTable } from '../../src/cli/flags.ts'
import { clean } from '../../src/cli/output.ts'
import { completeArgument } from './complete-argument.ts'
import { findNames } from './find-names.ts'

/** A word that fits, and what it means. */
interface Candidate {
  readonly value: string
  readonly description: string
}

/** What fits at the cursor. `files`: what the shell should add of its own. */
export interface Completions {
  readonly candidates: readonly Candidate[]
  readonly files: 'none' | 'file' | 'directory'
}

const NOTHING: Completions = { candidates: [], files: 'none' }

/** What fits for the last of the words (those behind the program's name). Runs no code of added plugins. */
export async function complete(app: App, words: readonly string[]): Promise<Completions> {
  const current = words.at(-1) ?? ''
  const typed = splitGlobals(words.slice(0, -1)).rest
  const before = typed[0] === 'help' ? typed.slice(1) : typed
  const [verb] = before
  if (verb === undefined) return matching(firstWords(app, current), current)

  const commands = await commandsOf(app, verb, { added: false })
  const next = nextWords(commands, before)
  const found = findCommand(commands, before)
  if (!found) return matching(next, current)
  const rest = await completeCommand(app, found.command, found.rest, current)
  return { ...rest, candidates: [...matching(next, current).candidates, ...rest.candidates] }
}

function firstWords(app: App, current: string): Candidate[] {
  if (current.startsWith('-')) return flagNames(GLOBAL_FLAGS, [])
  const verbs = app.entries
    .flatMap(entry => Object.entries(entry.verbs ?? {}))
    .filter(([, description]) => description)
    .map(([value, description]) => ({ value, description: clean(description) }))
  return [...verbs, { value: 'help', description: 'show help' }]
}

/** Words that continue those typed to a longer command, such as `list` behind `mcp`. */
function nextWords(commands: readonly CommandClass[], before: readonly string[]): Candidate[] {
  const next = new Map<string, string>()
  for (const command of commands) {
    const path = command.paths?.[0] ?? []
    const word = path[before.length]
    if (!command.usage || word === undefined || !before.every((typed, i) => typed === path[i])) continue
    const last = path.length === before.length + 1
    if (last || !next.has(word)) next.set(word, last ? (command.usage.description ?? '') : '')
  }
  return [...next].map(([value, description]) => ({ value, description }))
}

/** What fits behind a command's words: a flag, the value of one, or an argument. */
async function completeCommand(
  app: App,
  command: CommandClass,
  typed: readonly string[],
  current: string,
): Promise<Completions> {
  if (typed.includes('--')) return { candidates: [], files: 'file' }
  const table = flagsOf(command)
  const state = readTyped(typed, table)
  if (state.open) return flagValue(app, state.open, '', current)
  const [, name, value] = /^--([^=]+)=(.*)$/s.exec(current) ?? []
  if (name !== undefined) {
    const spec = Object.hasOwn(table, name) ? table[name] : undefined
    return spec ? flagValue(app, spec, `--${name}=`, value ?? '') : NOTHING
  }
  if (current.startsWith('-')) {
    const all = {
      ...table,
      debug: GLOBAL_FLAGS.debug,
      help: GLOBAL_FLAGS.help,
      verbose: GLOBAL_FLAGS.verbose,
    }
    return matching(flagNames(all, state.given), current)
  }
  const { candidates, files } = await completeArgument(app, command, {
    before: state.words,
    server: serverIn(typed),
  })
  return { ...matching(candidates, current), files }
}

/** Sorts what was typed into words and flags; `open` is a flag that still waits for its value. */
function readTyped(typed: readonly string[], table: FlagTable) {
  const words: string[] = []
  const given: string[] = []
  let open: Flag<unknown> | undefined
  for (const token of typed) {
    if (open) {
      open = undefined
    } else if (token.startsWith('-') && token !== '-') {
      const name = token.startsWith('--')
        ? token.slice(2).replace(/=.*/s, '')
        : Object.keys(table).find(key => table[key]?.short === token.slice(1, 2))
      if (name === undefined) continue
      given.push(name)
      const spec = Object.hasOwn(table, name) ? table[name] : undefined
      const whole = token.startsWith('--') ? token.includes('=') : token.length > 2
      if (spec && spec.kind !== 'boolean' && !whole) open = spec
    } else words.push(token)
  }
  return { words, given, open }
}

/** The value of `--server` among what was typed. */
function serverIn(typed: readonly string[]): string | undefined {
  const at = typed.findIndex(token => /^--server(=|$)/.test(token))
  return at < 0 ? undefined : (typed[at]?.split('=', 2)[1] ?? typed[at + 1])
}

async function flagValue(
  app: App,
  spec: Flag<unknown>,
  prefix: string,
  current: string,
): Promise<Completions> {
  const { completes = 'none' } = spec
  const isFiles = completes === 'none' || completes === 'file' || completes === 'directory'
  const choices = spec.kind === 'boolean' ? ['true', 'false'] : (spec.choices ?? [])
  const values = isFiles
    ? choices.map(value => ({ value, description: '' }))
    : await findNames(app, completes)
  const candidates = values.map(({ value, description }) => ({ value: `${prefix}${value}`, description }))
  return { ...matching(candidates, `${prefix}${current}`), files: isFiles ? completes : 'none' }
}

function flagNames(table: FlagTable, given: readonly string[]): Candidate[] {
  return Object.entries(table)
    .filter(([, spec]) => !spec.hidden)
    .map(([name, spec]) => ({
      name: spec.kind === 'boolean' && spec.fallback === true ? `no-${name}` : name,
      spec,
    }))
    .filter(({ name, spec }) => spec.kind === 'list' || !given.includes(name))
    .map(({ name, spec }) => ({ value: `--${name}`, description: clean(spec.description) }))
}

const matching = (candidates: readonly Candidate[], current: string): Completions => ({
  candidates: candidates
    .filter(({ value }) => value.startsWith(current))
    .toSorted((a, b) => (a.value < b.value ? -1 : 1)),
  files: 'none',
})
