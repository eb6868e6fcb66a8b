import { isDeepStrictEqual } from 'node:util'
import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'

/**
 * How an edit is made without a restart; undefined where it changes nothing, or more than one section makes live.
 * `shown`: the defaults that a client has read, and sends back, which is no change.
 */
export async function findLiveChange(
  app: App,
  before: RunConfig,
  after: RunConfig,
  shown: Readonly<Record<string, unknown>> = {},
): Promise<((config: RunConfig) => Promise<boolean>) | undefined> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof RunConfig>
  const changed = [...names].filter(
    name =>
      !isDeepStrictEqual(before[name], after[name]) &&
      !(before[name] === undefined && isDeepStrictEqual(shown[name], after[name])),
  )
  if (changed.length === 0) return undefined
  const sections = await app.contributions('sections')
  const owner = sections.find(({ members = {} }) => changed.every(name => Object.hasOwn(members, name)))
  const { changeLive } = owner ?? {}
  return changeLive && (config => changeLive(app, config, before))
}
