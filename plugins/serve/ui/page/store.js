/** @import { Api } from './api.js' */
/** @import { Denial, LoginEnd, Rollback, ServerEvent, Upgrade, Workload } from '../page-types.d.ts' */

/** A server that tries in a loop is no reason to show more. */
const DENIALS = 5

/** “a10” stands behind “a9”. */
const { compare } = new Intl.Collator('en', { numeric: true })

/**
 * @typedef {object} Store
 * @property {() => Workload[]} workloads  by name
 * @property {(name: string) => Workload | undefined} find
 * @property {() => boolean} isListed  whether all there are have been told
 * @property {(name: string) => Upgrade | undefined} upgradeOf
 * @property {(name: string) => readonly Denial[]} denialsOf  the last of them, while the page was open
 * @property {(name: string) => Rollback | undefined} rollbackOf  of the last upgrade, while the page was open
 * @property {(name: string) => LoginEnd | undefined} loginEndOf  of the last login, while the page was open
 * @property {(event: ServerEvent) => void} hear
 * @property {() => void} begin  what is told from now on is the whole
 * @property {(name?: string) => Promise<void>} checkUpgrades  of one, or of all
 * @property {(listener: Listener) => void} onChange
 *
 * @typedef {(change?: { before: Workload | undefined, after: Workload | undefined }) => void} Listener
 */

/**
 * What this page knows, as the events tell it. Nothing is asked for again and again.
 * @param {Api} api
 * @returns {Store}
 */
export function createStore(api) {
  /** @type {Map<string, Workload>} */
  const known = new Map()
  /** @type {Map<string, Upgrade>} */
  const upgrades = new Map()
  /** @type {Map<string, Denial[]>} */
  const denials = new Map()
  /** @type {Map<string, Rollback>} */
  const rollbacks = new Map()
  /** @type {Map<string, LoginEnd>} */
  const loginEnds = new Map()
  /** Those told since the connection was made, until all have been. @type {Set<string> | undefined} */
  let told = new Set()
  let listed = false
  /** @type {Listener[]} */
  const listeners = []

  /** @type {Listener} */
  const tell = change => {
    for (const listener of listeners) listener(change)
  }

  /** @param {string} name */
  function forget(name) {
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
        const after = /** @type {Workload} */ (data)
        const before = known.get(after.name)
        known.set(after.name, after)
        told?.add(after.name)
        tell({ before, after })
      }
      if (name === 'egress-denied') {
        const denial = /** @type {Denial} */ (data)
        const before = denials.get(denial.workload) ?? []
        denials.set(denial.workload, [...before, denial].slice(-DENIALS))
        tell()
      }
      if (name === 'workload-rolled-back' || name === 'workload-upgraded') {
        const outcome = /** @type {Rollback} */ (data)
        if (name === 'workload-upgraded') rollbacks.delete(outcome.name)
        else rollbacks.set(outcome.name, outcome)
        tell()
      }
      if (name === 'login-ended') {
        const end = /** @type {LoginEnd} */ (data)
        loginEnds.set(end.name, end)
        tell()
      }
      if (name === 'workload-removed') forget(/** @type {Workload} */ (data).name)
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
    onChange: listener => void listeners.push(listener),
  }
}
