import type { RunConfig } from '../../src/contracts/run-config.ts'
import { failures } from './failures.ts'

/** Names of objects that are made from it, such as `mcp-NAME-headless`, are labels of DNS too, of at most 63 characters. */
const LONGEST = 48

/**
 * The name of a workload's objects: a label of DNS that starts with a letter (RFC 1035, section 2.3.1), which names of
 * Services have to be. Fails with `kubernetes_name_empty` where nothing of the name is left.
 */
export function toObjectName({ name }: Pick<RunConfig, 'name'>): string {
  const label = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
  const trimmed = (/^[0-9]/.test(label) ? `mcp-${label}` : label).slice(0, LONGEST).replace(/-$/, '')
  if (!/^[a-z]/.test(trimmed)) throw failures.kubernetes_name_empty({ name })
  return trimmed
}
