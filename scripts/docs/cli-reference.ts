import { builtins } from '../../plugins/index.ts'
import { createApp } from '../../src/app.ts'
import { GLOBAL_FLAGS } from '../../src/cli/argv.ts'
import type { CommandClass } from '../../src/cli/base-command.ts'
import { allCommands, lenderOf, nameOf } from '../../src/cli/command-table.ts'
import type { FlagTable } from '../../src/cli/flags.ts'
import { describe, flagName, usageLine } from '../../src/cli/help.ts'
import { createLog } from '../../src/log.ts'
import { findPaths } from '../../src/paths.ts'
import { cell } from './cell.ts'

const INTRO = `# Command line

Generated from the program by \`npm run docs\`; \`keelson COMMAND --help\` shows the same.

Results go to standard output, everything else to standard error. Exit codes: 0 success, 1 failure, 2 wrong usage.
Flags may come before or after the arguments. Boolean flags are written \`--flag\`, \`--flag=false\` or \`--no-flag\`.
The value of another flag follows after a space or \`=\`. Everything after \`--\` goes to the server.
`

/** \`docs/cli.md\`: every visible command of the built-in plugins. */
export async function cliReference(): Promise<string> {
  const log = createLog({ write: line => process.stderr.write(line), human: true, debug: false })
  const app = createApp({ paths: findPaths({ HOME: '/nowhere' }), log, env: {}, entries: builtins })
  const commands = (await allCommands(app)).filter(command => command.usage)
  const categories = Map.groupBy(commands, command => command.usage?.category ?? 'Other')
  const sections = [...categories]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([title, members]) => {
      const sorted = members.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
      return [`## ${title}\n`, ...sorted.map(commandSection)].join('\n')
    })
  return [INTRO, `## Flags of every command\n\n${flagTable(GLOBAL_FLAGS)}`, ...sections].join('\n')
}

function commandSection(command: CommandClass): string {
  const { description = '', details, examples = [] } = command.usage ?? {}
  const aliases = (command.paths ?? []).slice(1).map(path => `\`keelson ${path.join(' ')}\``)
  const lender = lenderOf(command)
  const groups = lender ? [] : [{ title: '', flags: command.flags }, ...command.groups]
  return [
    `### keelson ${nameOf(command)}\n`,
    `${description.charAt(0).toUpperCase()}${description.slice(1)}.${details ? ` ${details.trim()}` : ''}\n`,
    `\`\`\`\n${usageLine(command)}\n\`\`\`\n`,
    ...(aliases.length ? [`Also: ${aliases.join(', ')}.\n`] : []),
    ...(lender ? [`It takes the flags of \`keelson ${lender}\`.\n`] : []),
    ...groups
      .filter(({ flags }) => Object.values(flags).some(spec => !spec.hidden))
      .map(({ title, flags }) => `${title ? `${title}:\n\n` : ''}${flagTable(flags)}`),
    ...(examples.length ? [`\`\`\`sh\n${examples.map(example).join('\n')}\n\`\`\`\n`] : []),
  ].join('\n')
}

const example = ([what, line]: readonly [string, string]): string =>
  `# ${what}\n${line.replaceAll('$0', 'keelson')}`

function flagTable(flags: FlagTable): string {
  const rows = Object.entries(flags)
    .filter(([, spec]) => !spec.hidden)
    .map(([name, spec]) => {
      const written = `${spec.short ? `-${spec.short}, ` : ''}${flagName(name, spec)}`
      return `| \`${cell(written)}\` | ${cell(describe(spec))} |\n`
    })
  return `| Flag | What it does [default] |\n|---|---|\n${rows.join('')}`
}
