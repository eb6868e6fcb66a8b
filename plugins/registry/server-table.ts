import { type Column, clean } from '../../src/cli/output.ts'
import { isRemote } from './formats/legacy.ts'
import type { ServerJson } from './formats/server-json.ts'
import { shortNameOf } from './formats/server-names.ts'
import { toView } from './formats/to-view.ts'

const WIDTH = 50

/** One line of at most 50 characters. */
export function shortLine(text: string): string {
  const line = clean(text).replace(/\s+/g, ' ').trim()
  return line.length <= WIDTH ? line : `${line.slice(0, WIDTH - 3)}...`
}

/** The shortest name that `run` and `info` take for a server of this list. */
export function shownName(servers: readonly ServerJson[]): (server: ServerJson) => string {
  const count = new Map<string, number>()
  for (const { name } of servers) count.set(shortNameOf(name), (count.get(shortNameOf(name)) ?? 0) + 1)
  return ({ name }) => (count.get(shortNameOf(name)) === 1 ? shortNameOf(name) : name)
}

const type = (server: ServerJson): string => (isRemote(toView(server)) ? 'remote' : 'container')
const stars = (server: ServerJson): string => String(toView(server).metadata?.stars ?? '-')

const description = (server: ServerJson): string => {
  const view = toView(server)
  const mark = view.status?.toLowerCase() === 'deprecated' ? '[deprecated] ' : ''
  return mark + shortLine(view.description ?? '')
}

export const serverColumns = (servers: readonly ServerJson[]): Column<ServerJson>[] => [
  { title: 'NAME', of: shownName(servers) },
  { title: 'TYPE', of: type },
  { title: 'DESCRIPTION', of: description, cut: 'end' },
  { title: 'TIER', of: server => toView(server).tier ?? '-' },
  { title: 'STARS', of: stars },
]

export const searchColumns = (servers: readonly ServerJson[]): Column<ServerJson>[] => [
  { title: 'NAME', of: shownName(servers) },
  { title: 'TYPE', of: type },
  { title: 'DESCRIPTION', of: description, cut: 'end' },
  { title: 'TRANSPORT', of: server => toView(server).transport ?? '-' },
  { title: 'STARS', of: stars },
]
