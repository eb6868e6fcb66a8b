import { Cli, Command } from 'clipanion'
import type { App } from '../app.ts'
import { VERSION } from '../build-info.ts'
import { failures } from '../errors.ts'
import { type Globals, normaliseArgv } from './argv.ts'
import type { BaseCommand, CliContext, CommandClass } from './base-command.ts'
import {
  addedVerbs,
  commandsOf,
  findCommand,
  flagAdders,
  flagsOf,
  nameOf,
  nearestCommand,
} from './command-table.ts'
import { foreignVerbHint } from './foreign-verbs.ts'
import { commandHelp, groupHelp, programHelp, usageLine } from './help.ts'
import { widthOf } from './output.ts'

export interface CliRun {
  readonly app: App
  /** The command line from the verb on. */
  readonly argv: readonly string[]
  readonly globals: Globals
  readonly streams: Pick<CliContext, 'stdin' | 'stdout' | 'stderr' | 'out'>
  readonly signal: AbortSignal
}

/** Finds the command, runs it with clipanion and returns the exit code. The caller prints failures. */
export async function runCli({ app, argv, globals, streams, signal }: CliRun): Promise<number> {
  const words = argv[0] === 'help' ? argv.slice(1) : argv
  const help = globals.help || argv[0] === 'help'
  const verb = words[0]
  const width = widthOf(streams.out)
  if (verb === undefined) return print(streams.out, programHelp(app.entries, VERSION, width))

  const commands = await commandsOf(app, verb, { added: addsOwn(app, verb) || !(help || asksHelp(words)) })
  const found = findCommand(commands, words)
  if (!found) return groupOrUnknown(app, commands, words, help, streams.out)

  const { command, path, rest } = found
  if (help) return print(streams.out, commandHelp(command, flagAdders(app), width))
  const { hints, passthrough } = command
  const normal = normaliseArgv(rest, { table: flagsOf(command), hints, passthrough }, globals)
  if (globals.help) return print(streams.out, commandHelp(command, flagAdders(app), width))

  const context = {
    out: streams.out,
    env: { ...app.env },
    colorDepth: 1,
    app,
    signal,
    verbose: globals.verbose,
    passthrough: command.passthrough ? normal.passthrough : [],
  }
  const tail = command.passthrough || !normal.dashes ? [] : ['--', ...normal.passthrough]
  const ready =
    normal.words.length + tail.length === 0 && !takesArguments(new command())
      ? Object.assign(new command(), { context: context as unknown as CliContext, path: [...path] })
      : parse(command, normal.words, () => {
          const cli = Cli.from([command], { binaryName: 'keelson', binaryVersion: VERSION })
          return cli.process([...path, ...normal.words, ...tail], context) as BaseCommand
        })
  // The flags are read by their table: clipanion would take longer to learn them than all else until here.
  ready.written = normal.flags
  // Node opens a stream when it is first asked for, and a command uses few of them.
  Object.defineProperties(ready.context, Object.getOwnPropertyDescriptors(streams))
  return (await ready.execute()) ?? 0
}

/** Where there are no arguments and none are taken, there is nothing for clipanion to parse: that takes it 3 ms. */
const takesArguments = (command: BaseCommand): boolean =>
  Object.values(command).some(
    value => typeof value === 'object' && value !== null && Command.isOption in value,
  )

/** Help runs code of added plugins only where the user names their own verb. */
const addsOwn = (app: App, verb: string): boolean => addedVerbs(app).some(added => added.verb === verb)

const asksHelp = (words: readonly string[]): boolean => {
  const end = words.indexOf('--')
  return words.slice(0, end < 0 ? undefined : end).some(word => word === '--help' || word === '-h')
}

/** Turns clipanion's failures for a wrong number of arguments into ours. */
function parse<T>(command: CommandClass, words: readonly string[], work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Error && (error.name === 'UnknownSyntaxError' || error.name === 'UsageError')))
      throw error
    const behind = command.passthrough ? '; arguments of the server go after `--`' : ''
    throw failures.usage({ hint: `Usage: ${usageLine(command)}${behind}`, ...wrongArguments(command, words) })
  }
}

function wrongArguments(command: CommandClass, words: readonly string[]): { text: string; hint?: string } {
  const name = `\`keelson ${nameOf(command)}\``
  const places = command.synopsis.split(' ').filter(Boolean)
  const extra = words.slice(places.length).map(word => `"${word}"`)
  if (extra.length && command.surplus) {
    return {
      text: `${name} takes ${places.join(' ').replaceAll(/[[\]]/g, '')} and no other argument.`,
      hint: command.surplus,
    }
  }
  if (extra.length === 1) return { text: `There is one argument too many: ${extra[0]}.` }
  if (extra.length) return { text: `There are ${extra.length} arguments too many: ${extra.join(', ')}.` }
  const needed = places.filter(place => !place.startsWith('[')).map(place => place.replace('...', ''))
  return { text: `${name} needs ${needed.join(' ')}.` }
}

function print(out: CliContext['out'], text: string): 0 {
  out.write(text)
  return 0
}

function groupOrUnknown(
  app: App,
  commands: Awaited<ReturnType<typeof commandsOf>>,
  words: readonly string[],
  help: boolean,
  out: CliContext['out'],
): number {
  const verb = words[0] ?? ''
  const next = words[1]
  if (commands.length && (help || next === undefined || next === '--help' || next === '-h')) {
    return print(out, groupHelp(verb, commands, widthOf(out)))
  }
  const near = nearestCommand(app, commands, words)
  const list = commands.length ? `keelson ${verb} --help` : 'keelson --help'
  const suggested = near ? `Did you mean \`keelson ${near}\`?` : `\`${list}\` lists the commands.`
  throw failures.usage({
    text: `There is no command "${commands.length ? `${verb} ${next}` : verb}".`,
    hint: foreignVerbHint(commands.length ? `${verb} ${next}` : verb) ?? suggested,
  })
}
