import type { Readable, Writable } from 'node:stream'
import { isTerminal } from '../../../src/cli/output.ts'
import { failures } from '../../../src/errors.ts'
import { byId } from '../by-id.ts'
import { CLIENTS } from '../known-clients.ts'
import type { ClientStatus } from '../service.ts'

/** Which clients to register, and in which groups (none: `default`); `why` there are none. */
export interface Choice {
  readonly clients: readonly string[]
  readonly groups: readonly string[]
  readonly why: string
}

const CANCELLED: Choice = { clients: [], groups: [], why: 'Nothing was changed.' }

/** What the flags say, or what the person at the terminal chooses. Fails with `usage` when there is neither. */
export async function chooseClients(options: {
  all: readonly ClientStatus[]
  groups: () => Promise<readonly string[]>
  given: { clients: readonly string[]; installed: boolean; groups: readonly string[] }
  terminal: { stdin: Readable; stderr: Writable }
}): Promise<Choice> {
  const { all, given, terminal } = options
  const open = byId(all, client => client.client_type).filter(client => !client.registered)
  if (given.clients.length || given.installed) {
    const found = given.installed
      ? open.filter(client => client.installed).map(client => client.client_type)
      : []
    const clients = [...new Set([...given.clients, ...found])]
    return { clients, groups: given.groups, why: 'No client is installed here that is not registered yet.' }
  }
  if (!isTerminal(terminal.stdin)) {
    throw failures.usage({
      text: 'Which clients? There is no terminal to ask on.',
      hint: 'Name them with --client, or take every installed one with --installed.',
    })
  }
  if (open.length === 0) return { ...CANCELLED, why: 'All clients are registered.' }
  const groups = given.groups.length ? given.groups : await askGroups(await options.groups(), terminal)
  const clients = groups && (await askClients(open, terminal))
  return clients ? { clients, groups, why: CANCELLED.why } : CANCELLED
}

type Terminal = Parameters<typeof chooseClients>[0]['terminal']

async function askGroups(groups: readonly string[], terminal: Terminal): Promise<string[] | undefined> {
  if (groups.length < 2) return [...groups]
  const { isCancel, multiselect } = await import('@clack/prompts')
  const answer = await multiselect({
    message: 'Workloads of which groups?',
    options: groups.map(value => ({ value, label: value })),
    initialValues: ['default'],
    required: true,
    input: terminal.stdin,
    output: terminal.stderr,
  })
  return isCancel(answer) ? undefined : answer
}

/** Installed ones first, and chosen already. */
async function askClients(open: readonly ClientStatus[], terminal: Terminal): Promise<string[] | undefined> {
  const { isCancel, multiselect } = await import('@clack/prompts')
  const ordered = [...open.filter(client => client.installed), ...open.filter(client => !client.installed)]
  const answer = await multiselect({
    message: 'Which clients may use them?',
    options: ordered.map(({ client_type, installed }) => {
      const title = CLIENTS.find(({ id }) => id === client_type)?.title ?? client_type
      return { value: client_type, label: installed ? `${title} (installed)` : title }
    }),
    initialValues: open.filter(client => client.installed).map(client => client.client_type),
    required: false,
    maxItems: 15,
    input: terminal.stdin,
    output: terminal.stderr,
  })
  return isCancel(answer) ? undefined : answer
}
