import type { RunConfig } from '../../src/contracts/run-config.ts'
import { failures } from './failures.ts'

/** A value that a Secret of the cluster holds. */
export interface SecretRef {
  /** The key in the Secret, which is also the variable of the server. */
  readonly key: string
  /** The secret of the run config whose value belongs there. */
  readonly from: string
}

/** The Secret that a user makes for a workload, with one key for each value. */
export const secretObjectName = (objectName: string): string => `${objectName}-secrets`

/** The secrets that become variables of the server (`NAME,target=VARIABLE`), sorted by variable. */
export function variableRefs({ name, secrets = [] }: RunConfig): SecretRef[] {
  return secrets
    .map(text => {
      const [, from, key] = /^([^,]+),target=([A-Za-z_][\w.-]*)$/s.exec(text) ?? []
      if (from === undefined || key === undefined) {
        // Only the beginning is shown: what follows may be a value, written there by mistake.
        const shown = text.replace(/([=,]).*/s, '$1…')
        throw failures.kubernetes_kind_unsupported({
          name,
          problem: `"${shown}" is not a reference to a secret`,
        })
      }
      return { key, from }
    })
    .sort(byKey)
}

/** The secrets that become headers for a remote server, sorted by key. */
export const headerRefs = ({ header_forward: headers }: RunConfig): (SecretRef & { header: string })[] =>
  Object.entries(headers?.add_headers_from_secret ?? {})
    .map(([header, from]) => ({ header, from, key: header.toLowerCase().replace(/[^\w.-]/g, '-') }))
    .sort(byKey)

function byKey(a: SecretRef, b: SecretRef): number {
  return a.key < b.key ? -1 : 1
}
