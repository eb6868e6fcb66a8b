import type { App } from '../../src/app.ts'
import { VERSION } from '../../src/build-info.ts'
import { GLOBAL_FLAGS } from '../../src/cli/argv.ts'
import type { CommandClass } from '../../src/cli/base-command.ts'
import { allCommands, lenderOf, nameOf } from '../../src/cli/command-table.ts'
import type { FlagTable } from '../../src/cli/flags.ts'
import { describe, flagName, usageLine } from '../../src/cli/help.ts'
import { capitalise } from '../../src/lib/capitalise.ts'

/** The manual page of the built-in commands, in the macros of man(7). */
export async function manualPage(app: App): Promise<string> {
  const commands = (await allCommands(app)).filter(command => command.usage)
  const sorted = commands.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const lines = [
    `.TH KEELSON 1 "" "keelson ${VERSION}"`,
    '.SH NAME',
    'keelson \\- runs MCP servers safely',
    '.SH SYNOPSIS',
    '.B keelson',
    'COMMAND [flags]',
    '.SH FLAGS OF EVERY COMMAND',
    ...flagLines(GLOBAL_FLAGS),
    '.SH COMMANDS',
    ...sorted.flatMap(commandLines),
    '.SH EXIT STATUS',
    '0: success; 1: failure; 2: wrong usage.',
  ]
  return `${lines.join('\n')}\n`
}

function commandLines(command: CommandClass): string[] {
  const { description = '', details, examples = [] } = command.usage ?? {}
  const lender = lenderOf(command)
  const tables = lender ? [] : [{ title: '', flags: command.flags }, ...command.groups]
  return [
    `.SS ${toRoff(usageLine(command))}`,
    toRoff(`${capitalise(description)}.${details ? ` ${details.trim()}` : ''}`),
    ...(lender ? ['.P', `It takes the flags of ${lender}.`] : []),
    ...tables.flatMap(({ title, flags }) => [
      ...(title ? ['.P', `${toRoff(title)}:`] : []),
      ...flagLines(flags),
    ]),
    ...examples.flatMap(([what, line]) => [
      '.P',
      `${toRoff(what)}:`,
      '.EX',
      toRoff(line.replaceAll('$0', 'keelson')),
      '.EE',
    ]),
  ]
}

const flagLines = (flags: FlagTable): string[] =>
  Object.entries(flags)
    .filter(([, spec]) => !spec.hidden)
    .flatMap(([name, spec]) => [
      '.TP',
      `.B ${toRoff(`${spec.short ? `-${spec.short}, ` : ''}${flagName(name, spec)}`)}`,
      toRoff(describe(spec)),
    ])

/** groff_man(7): a backslash is `\e`, a hyphen that may be copied `\-`; a line must not begin like a macro. */
const toRoff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('\n', ' ')
    .replace(/^(?=[.'])/, '\\&')
