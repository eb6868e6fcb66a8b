import type { RunConfig } from '../../src/contracts/run-config.ts'
import { sectionRequest } from '../../src/http/section-request.ts'
import {
  anything,
  bool,
  map,
  nullable,
  type ObjectOf,
  object,
  optional,
  text,
  texts,
} from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { assertSettings } from './assert-settings.ts'

const override = object({
  /** What clients call it. */
  name: optional(nullable(text)),
  description: optional(nullable(text)),
  /** Arguments that clients do not see and cannot send. Ours. */
  hidden_arguments: optional(nullable(texts)),
  /** Arguments that clients do not see, with the values that every call gets. Ours. */
  fixed_arguments: optional(nullable(map(anything))),
})

/** By the name that the server gives a tool. */
export const overrides = map(override)

const members = {
  /** Names of tools, as clients see them, or patterns such as `get_*`; absent or empty: all. */
  tools_filter: optional(nullable(texts)),
  /** By the name that the server gives a tool. */
  tools_override: optional(nullable(overrides)),
  /** Names and patterns of tools that are not offered, whatever the filter says. Ours. */
  tools_deny: optional(nullable(texts)),
  /** Only tools whose annotations say `readOnlyHint`. Ours. */
  tools_read_only: optional(nullable(bool)),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

const body = {
  tools: optional(nullable(texts)),
  ...members,
}

/** What requests say about tools. A member that the body does not have stays as it is. */
const request = sectionRequest({
  body,
  details: { tools: texts, tools_override: overrides, tools_deny: texts, tools_read_only: bool },
  toOptions: () => ({}),
  toMembers: (
    { tools, tools_filter, tools_override, tools_deny, tools_read_only },
    kept,
  ): Partial<RunConfig> =>
    setMembers({ tools_filter: tools ?? tools_filter, tools_override, tools_deny, tools_read_only }, kept),
  toDetails: config => ({
    tools: config.tools_filter ?? [],
    tools_override: config.tools_override ?? {},
    tools_deny: config.tools_deny ?? [],
    tools_read_only: config.tools_read_only ?? false,
  }),
  keptAlways: ['tools_filter', 'tools_override', 'tools_deny', 'tools_read_only'],
})

/** The members that are said; what is empty only where it takes the place of something. */
const setMembers = (said: Readonly<Record<string, unknown>>, kept: Partial<RunConfig>): Partial<RunConfig> =>
  Object.fromEntries(
    Object.entries(said).filter(
      ([name, value]) =>
        value !== undefined && !(isNothing(value) && isNothing(kept[name as keyof RunConfig])),
    ),
  )

/** Not `isEmpty`: an argument may be fixed to 0. */
const isNothing = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length === 0 : !value

const entry = {
  parameter: 'filter_tools',
  member: 'tools_filter',
  repeats: { tools_override: 'tools_override' },
} as const

export const toolsSection: Section = {
  members,
  request,
  check: assertSettings,
  async changeLive(app, config, before) {
    const { storeLive } = await import('./edit/store-live.ts')
    return storeLive(app, config, before)
  },
  middlewareEntries: [
    { type: 'tool-filter', ...entry },
    { type: 'tool-call-filter', ...entry },
  ],
}
