import type { RunConfig } from '../../src/contracts/run-config.ts'
import { failures } from '../../src/errors.ts'
import {
  bool,
  integer,
  list,
  map,
  type ObjectOf,
  object,
  oneOf,
  optional,
  type Schema,
  type TypeOf,
  text,
  texts,
} from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { workflowsProblem } from './composite/check-workflow.ts'
import { workflowSchema } from './composite/workflow.ts'
import { NAMINGS } from './names/naming.ts'
import { TOOL_MODES } from './tool-modes/modes.ts'

/** The runtime of endpoints. */
export const ENDPOINT_RUNTIME = 'endpoint'

/** A day at most, as timers take no more than 24 of them. */
const seconds: Schema<number> = { ...integer, minimum: 1, maximum: 86_400 }

/** The members of the settings. */
export const endpointMembers = {
  /** The group whose servers are behind the endpoint. */
  group: optional(text),
  /** Names of the servers, in place of a group. */
  servers: optional(texts),
  /** How the tools and prompts of the servers are named; absent: `prefix`. */
  naming: optional(oneOf(NAMINGS)),
  /** What clients get of the tools; absent: `all`. */
  tool_mode: optional(oneOf(TOOL_MODES)),
  /** Patterns of names of tools, by the name of the view at `/mcp/NAME` that shows them. */
  views: optional(map(texts)),
  /** Tools that are made of calls of others. */
  composite_tools: optional(list(workflowSchema)),
  /** Whether client applications get this URL in place of those of its servers. */
  for_clients: optional(bool),
  /** Seconds that a call may take without progress; absent: 600. */
  call_timeout: optional(seconds),
  /** The same of single servers, by name. */
  call_timeouts: optional(map(seconds)),
}
const endpointSettings = object(endpointMembers)

/** What is behind an endpoint. */
export type EndpointSettings = TypeOf<typeof endpointSettings>

const members = {
  /** Present if the workload is an endpoint: one URL for several workloads. */
  endpoint: optional(endpointSettings),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

export const isEndpoint = ({ runtime }: Pick<RunConfig, 'runtime'>): boolean => runtime === ENDPOINT_RUNTIME

/** Whether a workload is behind an endpoint. Another endpoint never is. */
export const isMember = (config: RunConfig, { group, servers = [] }: EndpointSettings): boolean =>
  !isEndpoint(config) &&
  (group === undefined ? servers.includes(config.name) : (config.group || 'default') === group)

export const endpointSection: Section = {
  members,
  standsFor: ({ endpoint }, all) =>
    endpoint?.for_clients ? all.filter(one => isMember(one, endpoint)).map(({ name }) => name) : [],
  check(config) {
    const { endpoint } = config
    if (isEndpoint(config) !== (endpoint !== undefined)) {
      throw failures.usage({
        text: `The member "endpoint" and the runtime "${ENDPOINT_RUNTIME}" belong together.`,
        hint: 'Make endpoints with `keelson endpoint create`.',
      })
    }
    if (!endpoint) return
    if ((endpoint.group === undefined) === (endpoint.servers === undefined)) {
      throw failures.usage({ text: 'An endpoint has either a group or a list of servers.' })
    }
    for (const [view, patterns] of Object.entries(endpoint.views ?? {})) assertView(view, patterns)
    const problem = workflowsProblem(endpoint.composite_tools ?? [])
    if (problem !== undefined) throw failures.usage({ text: `Composite tools: ${problem}.` })
  },
}

/** It is a part of a path, and shows something. */
function assertView(view: string, patterns: readonly string[]): void {
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(view) && patterns.length > 0 && patterns.every(Boolean)) return
  throw failures.usage({
    text: `The view ${JSON.stringify(view)} is not one.`,
    hint: 'A view has a name of a-z, 0-9 and "-", and names of tools: --view dev=git_*,tracker_*',
  })
}
