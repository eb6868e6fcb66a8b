import {
  findSpan,
  mergeRaw,
  parseRaw,
  type Span,
  splice,
  topLevelMembers,
  toRaw,
} from '../../src/lib/raw-json.ts'
import type { ListItem } from '../../src/net/list-result.ts'
import type { Selection } from './selection.ts'

/** The text of a tool of a list as clients see it; undefined where they do not. */
export function rewriteTool(item: ListItem, selection: Selection): string | undefined {
  const { name: real, text: tool } = item
  const shown = selection.shownName(real)
  if (shown === undefined) return undefined
  const { description } = selection.override(real) ?? {}
  const changed = withMembers(tool, {
    ...(shown === real ? {} : { name: shown }),
    ...(description ? { description } : {}),
  })
  const unseen = selection.unseenArguments(real)
  return unseen.length ? withoutArguments(changed, new Set(unseen)) : changed
}

function withMembers(tool: string, members: Readonly<Record<string, string>>): string {
  return Object.keys(members).length ? mergeRaw(tool, toRaw(JSON.stringify(members))) : tool
}

function withoutArguments(tool: string, unseen: ReadonlySet<string>): string {
  const properties = spanOf(tool, 'inputSchema', 'properties')
  const required = spanOf(tool, 'inputSchema', 'required')
  return splice(tool, [
    { span: properties, text: properties ? withoutMembers(sliceOf(tool, properties), unseen) : '' },
    { span: required, text: required ? withoutNames(sliceOf(tool, required), unseen) : '' },
  ])
}

function withoutMembers(object: string, unseen: ReadonlySet<string>): string {
  const members = [...(topLevelMembers(object)?.at ?? [])]
  const kept = members.flatMap(([name, { key, start, end }]) =>
    unseen.has(name) ? [] : `${key}:${object.slice(start, end)}`,
  )
  return `{${kept.join(',')}}`
}

function withoutNames(array: string, unseen: ReadonlySet<string>): string {
  const names = parseRaw(array)
  if (!Array.isArray(names)) return array
  return toRaw(JSON.stringify(names.filter(name => !unseen.has(name))))
}

const sliceOf = (text: string, { start, end }: Span): string => text.slice(start, end)

/** Where a member stands in the text of an object, by its path; undefined where something on it is not an object. */
function spanOf(text: string, ...path: string[]): Span | undefined {
  return findSpan(text, { start: 0, end: text.length }, path)
}
