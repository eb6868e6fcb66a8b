import type { Schema } from './schema.ts'
import { toTextCheck } from './text-schema.ts'

/** Labels on everything a runtime makes for us; the names follow ToolHive's. */
export const LABEL = {
  managed: 'keelson',
  name: 'keelson-name',
  baseName: 'keelson-basename',
  transport: 'keelson-transport',
  port: 'keelson-port',
  /** Which installation (data folder) it belongs to, so that two of them on one engine keep apart. */
  owner: 'keelson-owner',
  /** On an image that was built from a package: what decides its content. */
  recipe: 'keelson-recipe',
  /** Whether the network is isolated: `true` or `false`. */
  isolation: 'keelson-network-isolation',
  /** On an instance that serves one client beside the workload's own: `true`. */
  client: 'keelson-client',
  /** On a network: the instance it is for, and the port of its egress proxy. */
  instance: 'keelson-instance',
  egressPort: 'keelson-door', // the name that earlier versions wrote
  /** On a network whose egress proxy runs in the helper: the helper's address there. On the helper: the name of its image. */
  helper: 'keelson-helper',
} as const

const PREFIX = '(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?'
const WORD = '[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?'

/** The schemas of a label's key and value, as Kubernetes has them. */
export const labelKey: Schema<string> = {
  type: 'string',
  pattern: `^${PREFIX}${WORD}$`,
  description: 'Letters, digits, ".", "_" and "-", perhaps after a prefix such as example.com/',
}
export const labelValue: Schema<string> = {
  type: 'string',
  pattern: `^(?:${WORD})?$`,
  description: 'Letters, digits, ".", "_" and "-"',
}
const isKey = toTextCheck(labelKey)
const isValue = toTextCheck(labelValue)

/** Reads `key=value` under Kubernetes' rules for labels; undefined when it breaks them. */
export function parseLabel(text: string): [key: string, value: string] | undefined {
  const at = text.indexOf('=')
  const key = text.slice(0, at)
  const value = text.slice(at + 1)
  return at > 0 && isKey(key) && isValue(value) ? [key, value] : undefined
}

/** Labels of the user's own, without ours. */
export const userLabels = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels).filter(([key]) => key !== LABEL.managed && !key.startsWith('keelson-')),
  )
