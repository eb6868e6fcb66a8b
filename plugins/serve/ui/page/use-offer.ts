import { useEffect, useState } from 'preact/hooks'
import type { PanelProps } from './panel.ts'

export interface Offer<T> {
  readonly offer?: T
  readonly problem?: string
}

/**
 * What a server offers, asked for once each time it comes up, when somebody looks. Undefined until it has responded.
 * `again` asks anew.
 */
export function useOffer<T>(
  { api, workload, isSeen, connection }: PanelProps,
  what: string,
): { known: Offer<T> | undefined; again: () => void } {
  const { name, status, started_at } = workload
  const start = `${status} ${started_at}`
  const [kept, setKept] = useState<(Offer<T> & { readonly of: string }) | undefined>()
  const known = kept?.of === start ? kept : undefined
  const isAsking = isSeen && status === 'running' && !known

  useEffect(() => {
    if (!isAsking) return
    const ending = new AbortController()
    const { signal } = ending
    api.get(`/api/v1beta/workloads/${encodeURIComponent(name)}/${what}`, signal).then(
      offer => signal.aborted || setKept({ of: start, offer }),
      error => signal.aborted || setKept({ of: start, problem: error.message }),
    )
    return () => ending.abort()
  }, [isAsking, start, connection])

  return { known, again: () => setKept(undefined) }
}
