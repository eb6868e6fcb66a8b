import { styleText } from 'node:util'
import { capitalise } from '../lib/capitalise.ts'
import type { PluginEntry } from '../plugin.ts'
import type { CommandClass } from './base-command.ts'
import { lenderOf, nameOf } from './command-table.ts'
import type { Flag, FlagTable } from './flags.ts'
import { fold } from './fold.ts'
import { clean } from './output.ts'

const PROGRAM = 'keelson'
const heading = (text: string) => styleText('bold', text)

const EXAMPLES = [
  ['run npx://@modelcontextprotocol/server-everything', 'in isolation'],
  ['client setup', 'let the AI clients of this machine use it'],
  ['mcp list --server server-everything', 'see what it offers'],
] as const

/** The headings of the page of the whole program, in their order. */
const TOPICS = ['Workloads', 'Servers and skills', 'Clients', 'Access', 'Settings'] as const
export type Topic = (typeof TOPICS)[number]

/**
 * The page of the whole program: one line for each first word, from the list of plugins, whose code is not loaded. Pages
 * are folded to a width, in characters.
 */
export function programHelp(
  entries: readonly PluginEntry[],
  version: string,
  width = Number.POSITIVE_INFINITY,
): string {
  const lines = entries.flatMap(({ name, verbs = {}, topic, added }) =>
    Object.entries(verbs)
      .filter(([, line]) => line !== '')
      .map(([verb, line]) => ({ verb, topic, added, line: added ? `${clean(line)} (${name})` : line })),
  )
  const widest = Math.max(0, ...lines.map(({ verb }) => verb.length))
  const section = (title: string, members: typeof lines) =>
    members.length === 0
      ? []
      : [
          `${heading(title)}\n${twoColumns(
            members.map(({ verb, line }) => [verb, line]),
            { widest, width },
          )}`,
        ]
  return [
    `${PROGRAM} ${version}: runs MCP servers safely\n${heading('Usage')}: ${PROGRAM} COMMAND [flags]\n`,
    ...TOPICS.flatMap(title =>
      section(
        title,
        lines.filter(({ topic }) => topic === title),
      ),
    ),
    ...section(
      'From plugins that you have added',
      lines.filter(({ added }) => added),
    ),
    `${heading('Examples')}\n${EXAMPLES.map(([line, what]) => `  ${PROGRAM} ${line}   # ${what}\n`).join('')}`,
    `${fold(`\`${PROGRAM} COMMAND --help\` tells more. ${PROGRAM} sends no usage metrics.`, { width })}\n`,
  ].join('\n')
}

/** The page of a group of commands, such as `plugin`. */
export function groupHelp(
  verb: string,
  commands: readonly CommandClass[],
  width = Number.POSITIVE_INFINITY,
): string {
  const visible = commands.filter(command => command.usage)
  const rows = visible.map(command => [nameOf(command), command.usage?.description ?? ''] as const)
  return `${heading('Usage')}\n  ${PROGRAM} ${verb} COMMAND [flags]\n\n${heading('Commands')}\n${twoColumns(rows, { width })}`
}

/** The page of one command. `adders` are added plugins that may take more flags; their code is not run for a page. */
export function commandHelp(
  command: CommandClass,
  adders: readonly string[] = [],
  width = Number.POSITIVE_INFINITY,
): string {
  const { description = '', details, examples } = command.usage ?? {}
  const aliases = (command.paths ?? []).slice(1).map(path => path.join(' '))
  const sentence = `${capitalise(description)}.`
  const parts = [`${fold(sentence, { width })}\n`]
  if (details) parts.push(`${fold(details.trim(), { width })}\n`)
  parts.push(`${heading('Usage')}\n  ${usageLine(command)}\n`)
  if (aliases.length) parts.push(`${heading('Aliases')}\n  ${aliases.join(', ')}\n`)
  const lender = lenderOf(command)
  if (lender) parts.push(`${heading('Flags')}\n  those of \`${PROGRAM} ${lender}\`\n`)
  else
    parts.push(
      ...[{ title: 'Flags', flags: command.flags }, ...command.groups]
        .map(section => flagSection(section, width))
        .filter(Boolean),
    )
  if (command.sharesFlags && adders.length)
    parts.push(`Plugins that you have added may take more flags: ${adders.join(', ')}.\n`)
  if (examples?.length) {
    parts.push(
      `${heading('Examples')}\n${examples.map(([what, line]) => `${fold(`  ${what}`, { width })}\n    ${line.replaceAll('$0', PROGRAM)}\n`).join('')}`,
    )
  }
  return parts.join('\n')
}

export const usageLine = (command: CommandClass): string =>
  [PROGRAM, nameOf(command), '[flags]', command.synopsis, command.passthrough ? '[-- ARGS...]' : '']
    .filter(Boolean)
    .join(' ')

function flagSection({ title, flags }: { title: string; flags: FlagTable }, width: number): string {
  const rows = Object.entries(flags)
    .filter(([, spec]) => !spec.hidden)
    .map(
      ([name, spec]) =>
        [`${spec.short ? `-${spec.short}, ` : '    '}${flagName(name, spec)}`, describe(spec)] as const,
    )
  if (rows.length === 0) return ''
  return `${heading(title)}\n${twoColumns(rows, { width })}`
}

/** If the second column would be narrower than this, it goes below the first. */
const LEAST_SECOND = 30
const BELOW = 8

/** Rows of a term and what it means, with a hanging indent. */
function twoColumns(
  rows: readonly (readonly [string, string])[],
  { widest = Math.max(0, ...rows.map(([left]) => left.length)), width }: { widest?: number; width: number },
): string {
  const at = widest + 4
  if (width - at >= LEAST_SECOND)
    return rows
      .map(([left, right]) => `${fold(`  ${left.padEnd(widest)}  ${right}`, { width, indent: at })}\n`)
      .join('')
  const below = (text: string) => fold(' '.repeat(BELOW) + text, { width, indent: BELOW })
  return rows.map(([left, right]) => `  ${left}\n${below(right)}\n`).join('')
}

/** A flag as it is written: `--name VALUE`; one that is on by default is shown by what turns it off. */
export function flagName(name: string, spec: Flag<unknown>): string {
  if (spec.kind === 'boolean') return spec.fallback === true ? `--no-${name}` : `--${name}`
  return `--${name} ${spec.placeholder}`
}

/** What a flag does, with its default. */
export function describe(spec: Flag<unknown>): string {
  const off = spec.kind === 'boolean' && spec.fallback === true ? 'do not ' : ''
  const repeat = spec.kind === 'list' ? ' (repeatable)' : ''
  return `${off}${spec.description}${repeat}${spec.shown && spec.kind !== 'boolean' ? ` [${spec.shown}]` : ''}`
}
