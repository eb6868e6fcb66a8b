import type { App } from '../app.ts'
import { suggest } from '../lib/suggest.ts'
import type { PluginEntry } from '../plugin.ts'
import type { CommandClass } from './base-command.ts'
import { type FlagTable, flagsOfGroups } from './flags.ts'
import { sameVerbs } from './foreign-verbs.ts'

/** All flags of a command, its own and those that plugins added. */
export const flagsOf = ({ flags, groups }: CommandClass): FlagTable => ({
  ...flags,
  ...flagsOfGroups(groups),
})

const withVerb = (entries: readonly PluginEntry[], verb: string) =>
  entries.filter(entry => Object.hasOwn(entry.verbs ?? {}, verb))

/** Whether code of plugins that the user has added may be loaded. */
export interface Loading {
  readonly added: boolean
}

/** The commands under one verb, loading only the plugins that have it. */
export async function commandsOf(
  app: App,
  verb: string,
  { added }: Loading = { added: true },
): Promise<CommandClass[]> {
  const entries = withVerb(app.entries, verb).filter(entry => added || !entry.added)
  const lists = await Promise.all(
    entries.map(
      async entry => (await entry.commands?.[verb]?.()) ?? (await app.plugin(entry)).commands ?? [],
    ),
  )
  const commands = lists.flat().filter(c => c.paths?.some(p => p[0] === verb))
  const of = commands.find(takesGroups)?.sharesFlags
  if (of === undefined) return commands
  const hasFlags = (entry: PluginEntry) => !entry.flagsOf || entry.flagsOf.includes(of)
  const groups = await app.contributions('flags', entry => hasFlags(entry) && (added || !entry.added))
  return commands.map(command => {
    if (!takesGroups(command)) return command
    const own = groups.filter(group => group.of.includes(of))
    return class extends (command as unknown as typeof Object) {
      static groups = byTitle(own)
    } as unknown as CommandClass
  })
}

/** One group for each title, which several parts may fill, ordered by title. */
const byTitle = (groups: CommandClass['groups']): CommandClass['groups'] =>
  [...Map.groupBy(groups, ({ title }) => title)]
    .map(([title, members]) => ({ title, flags: flagsOfGroups(members) }))
    .sort((a, b) => (a.title < b.title ? -1 : 1)) // to load a collation takes several milliseconds

/** Only a command of one word, such as `run`, takes the flags of other plugins. */
const takesGroups = (command: CommandClass): boolean => command.sharesFlags !== undefined

/** The other command whose flags a command takes, so that help does not list them twice. */
export const lenderOf = (command: CommandClass): string | undefined =>
  command.sharesFlags === command.paths?.[0]?.[0] ? undefined : command.sharesFlags

/** Every command of the built-in plugins; used by completion and the reference. */
export async function allCommands(app: App): Promise<CommandClass[]> {
  const own = app.entries.filter(entry => !entry.added)
  const verbs = [...new Set(own.flatMap(entry => Object.keys(entry.verbs ?? {})))]
  const lists = await Promise.all(verbs.map(verb => commandsOf(app, verb, { added: false })))
  const seen = new Set<string>()
  return lists.flat().filter(command => {
    const key = nameOf(command)
    return !seen.has(key) && Boolean(seen.add(key))
  })
}

/** A verb of a plugin that the user has added, as its manifest describes it. */
export interface AddedVerb {
  readonly verb: string
  readonly description: string
  readonly plugin: string
}

/** The verbs of added plugins, without running any of their code. */
export const addedVerbs = (app: App): AddedVerb[] =>
  app.entries.flatMap(({ name, added, verbs }) =>
    added
      ? Object.entries(verbs ?? {}).map(([verb, description]) => ({ verb, description, plugin: name }))
      : [],
  )

/** Names of the added plugins that have flags for other commands. */
export const flagAdders = (app: App): string[] =>
  app.entries.filter(entry => entry.added && entry.provides?.includes('flags')).map(entry => entry.name)

export const nameOf = (command: CommandClass): string => command.paths?.[0]?.join(' ') ?? ''

/** The command whose words begin the arguments (the longest match), and what follows them. */
export function findCommand(
  commands: readonly CommandClass[],
  words: readonly string[],
): { command: CommandClass; path: readonly string[]; rest: string[] } | undefined {
  const matches = commands
    .flatMap(command =>
      (command.paths ?? []).map(path => ({ command, path, rest: words.slice(path.length) })),
    )
    .filter(({ path }) => path.every((word, i) => words[i] === word))
  return matches.sort((a, b) => b.path.length - a.path.length)[0]
}

/** The nearest command to words that name none. */
export const nearestCommand = (
  app: App,
  commands: readonly CommandClass[],
  words: readonly string[],
): string | undefined => {
  const verbs = app.entries.flatMap(e => Object.keys(e.verbs ?? {}))
  const [verb = '', next = '', ...others] = words.filter(word => !word.startsWith('-'))
  if (commands.length === 0) return suggest(verb, verbs)
  const shown = commands.filter(command => command.usage)
  const known = shown.flatMap(c => c.paths ?? []).map(p => p.join(' '))
  const same = [...sameVerbs(next), `${next}-${others[0]}`].map(word => `${verb} ${word}`)
  return (
    same.find(command => known.includes(command)) ??
    suggest(`${verb} ${next}`, known) ??
    verbs.find(candidate => candidate === next)
  )
}
