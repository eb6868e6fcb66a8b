import type { Denial, LoginEnd, Rollback, ServerEvent, Upgrade, Workload } from '../page-types.d.ts'
import type { Api } from './api.ts'

/** A server that tries in a loop is no reason to show more. */
const DENIALS = 5

/** “a10” stands behind “a9”. */
const { compare } = new Intl.Collator('en', { numeric: true })

type Listener = (change?: { before: Workload | undefined; after: Workload | undefined }) => void

/** What this page knows. What stands for the last of something holds what happened while the page was open. */
export interface Store {
  /** By name. */
  workloads(): Workload[]
  find(name: string): Workload | undefined
  /** Whether all there are have been told. */
  isListed(): boolean
  upgradeOf(name: string): Upgrade | undefined
  /** The last of them. */
  denialsOf(name: string): readonly Denial[]
  /** Of the last upgrade. */
  rollbackOf(name: string): Rollback | undefined
  /** Of the last login. */
  loginEndOf(name: string): LoginEnd | undefined
  hear(event: ServerEvent): void
  /** What is told from now on is the whole. */
  begin(): void
  /** Of one, or of all. */
  checkUpgrades(name?: string): Promise<void>
  /** Returns what ends it. */
  onChange(listener: Listener): () => void
}

/** What this page knows, as the events tell it. Nothing is asked for again and again. */
export function createStore(api: Api): Store {
  const known: Map<string, Workload> = new Map()
  const upgrades: Map<string, Upgrade> = new Map()
  const denials: Map<string, Denial[]> = new Map()
  const rollbacks: Map<string, Rollback> = new Map()
  const loginEnds: Map<string, LoginEnd> = new Map()
  /** Those told since the connection was made, until all have been. */
  let told: Set<string> | undefined = new Set()
  let listed = false
  const listeners = new Set<Listener>()

  const tell: Listener = change => {
    for (const listener of listeners) listener(change)
  }

  function forget(name: string) {
    const before = known.get(name)
    known.delete(name)
    upgrades.delete(name)
    denials.delete(name)
    rollbacks.delete(name)
    loginEnds.delete(name)
    if (before) tell({ before, after: undefined })
  }

  return {
    workloads: () => [...known.values()].sort((a, b) => compare(a.name, b.name)),
    find: name => known.get(name),
    isListed: () => listed,
    upgradeOf: name => upgrades.get(name),
    rollbackOf: name => rollbacks.get(name),
    loginEndOf: name => loginEnds.get(name),
    denialsOf: name => denials.get(name) ?? [],
    begin() {
      told = new Set()
    },
    hear({ name, data }) {
      if (name === 'workload') {
        const after = data as Workload
        const before = known.get(after.name)
        known.set(after.name, after)
        told?.add(after.name)
        tell({ before, after })
      }
      if (name === 'egress-denied') {
        const denial = data as Denial
        const before = denials.get(denial.workload) ?? []
        denials.set(denial.workload, [...before, denial].slice(-DENIALS))
        tell()
      }
      if (name === 'workload-rolled-back' || name === 'workload-upgraded') {
        const outcome = data as Rollback
        if (name === 'workload-upgraded') rollbacks.delete(outcome.name)
        else rollbacks.set(outcome.name, outcome)
        tell()
      }
      if (name === 'login-ended') {
        const end = data as LoginEnd
        loginEnds.set(end.name, end)
        tell()
      }
      if (name === 'workload-removed') forget((data as Workload).name)
      if (name === 'listed') {
        for (const one of [...known.keys()]) if (told && !told.has(one)) forget(one)
        told = undefined
        listed = true
        tell()
      }
    },
    async checkUpgrades(name) {
      const path = '/api/v1beta/workloads'
      if (name === undefined) {
        const { results } = await api.get(`${path}/upgrade-check?all=true`)
        for (const result of results) upgrades.set(result.workload_name, result)
      } else {
        const { result } = await api.get(`${path}/${encodeURIComponent(name)}/upgrade-check`)
        upgrades.set(name, result)
      }
      tell()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
