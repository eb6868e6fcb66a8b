import type { Settings } from './selection.ts'

const MOST_NAMES = 5

/** What the selection does, in few words for the user. */
export function describeSelection(settings: Settings): string {
  const { tools_filter, tools_deny, tools_override, tools_read_only } = settings
  const overrides = Object.keys(tools_override ?? {}).length
  return [
    ...(tools_filter?.length ? [`shows ${toNames(tools_filter)}`] : []),
    ...(tools_deny?.length ? [`hides ${toNames(tools_deny)}`] : []),
    ...(tools_read_only ? ['only tools that read'] : []),
    ...(overrides ? [`${overrides} changed`] : []),
  ].join('; ')
}

const toNames = (names: readonly string[]): string =>
  names.length > MOST_NAMES
    ? `${names.slice(0, MOST_NAMES).join(', ')} and ${names.length - MOST_NAMES} more`
    : names.join(', ')
