import { messageOf } from '../../../src/errors.ts'
import { parseDuration } from '../../../src/lib/duration.ts'
import { isEmpty } from '../../../src/lib/is-empty.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { readWorkflows } from '../composite/check-workflow.ts'
import { failures } from '../failures.ts'
import type { EndpointSettings } from '../section.ts'
import { describeUnsupported, LONGEST_NAME, PREFIX_FORMAT } from './unsupported.ts'

/** An endpoint as a configuration file of ToolHive's vMCP describes it. */
export interface ImportedEndpoint {
  readonly name: string
  readonly settings: EndpointSettings
  /** What the file sets that the endpoint would not have, for people. */
  readonly leftBehind: readonly string[]
}

/**
 * Reads such a file (YAML or JSON). Its `backends` are taken for workloads of the same names. Fails with
 * `endpoint_file_unreadable`.
 *
 * @param path for messages
 */
export async function readVmcpConfig(text: string, path: string): Promise<ImportedEndpoint> {
  const { parseYaml } = await import('../../../src/lib/parse-yaml.ts')
  const unreadable = (problem: string) => failures.endpoint_file_unreadable({ path, problem })
  let file: unknown
  try {
    file = parseYaml(text)
  } catch (error) {
    throw unreadable(messageOf(error))
  }
  if (!isObject(file)) throw unreadable('it is not an object')
  const { name, groupRef, backends = [], aggregation } = file
  if (typeof name !== 'string' || name === '' || name.length > LONGEST_NAME)
    throw unreadable('it has no name')
  if (!Array.isArray(backends)) throw unreadable('its "backends" are not a list')
  const servers = backends.map((backend: unknown, index) => {
    if (isObject(backend) && typeof backend.name === 'string') return backend.name
    throw unreadable(`the backend number ${index + 1} has no name`)
  })
  if (servers.length === 0 && typeof groupRef !== 'string') throw unreadable('it has no "groupRef"')
  return {
    name,
    settings: {
      ...(servers.length > 0 ? { servers: [...new Set(servers)] } : { group: String(groupRef) }),
      ...namingOf(aggregation),
      ...timesOf(file.operational),
      ...(isObject(file.optimizer) ? { tool_mode: 'search' } : {}),
      ...compositeToolsOf(file.compositeTools, problem => unreadable(`its "compositeTools": ${problem}`)),
    },
    leftBehind: describeUnsupported(file),
  }
}

/** `priority` keeps names, as `plain` does. Any other strategy has names with prefixes here. */
const namingOf = (aggregation: unknown): Pick<EndpointSettings, 'naming'> => {
  const { conflictResolution: strategy, conflictResolutionConfig: config } = membersOf(aggregation)
  if (strategy === 'priority') return { naming: 'plain' }
  const { prefixFormat = PREFIX_FORMAT } = membersOf(config)
  return strategy === 'manual' || prefixFormat !== PREFIX_FORMAT
    ? { naming: 'on-clash' }
    : { naming: 'prefix' }
}

function timesOf(operational: unknown): Pick<EndpointSettings, 'call_timeout' | 'call_timeouts'> {
  const { default: all, perWorkload } = membersOf(membersOf(operational).timeouts)
  const single = Object.entries(membersOf(perWorkload)).flatMap(([server, text]) => {
    const seconds = secondsOf(text)
    return seconds === undefined ? [] : [[server, seconds] as const]
  })
  const call_timeout = secondsOf(all)
  return {
    ...(call_timeout === undefined ? {} : { call_timeout }),
    ...(isEmpty(single) ? {} : { call_timeouts: Object.fromEntries(single) }),
  }
}

function compositeToolsOf(
  tools: unknown,
  unreadable: (problem: string) => Error,
): Pick<EndpointSettings, 'composite_tools'> {
  if (isEmpty(tools)) return {}
  try {
    return { composite_tools: readWorkflows(tools) }
  } catch (error) {
    throw unreadable(messageOf(error))
  }
}

const MOST_SECONDS = 86_400

/** Undefined for what is not a duration. */
function secondsOf(text: unknown): number | undefined {
  const ms = typeof text === 'string' ? parseDuration(text) : undefined
  return ms === undefined ? undefined : Math.min(Math.max(Math.ceil(ms / 1000), 1), MOST_SECONDS)
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})
