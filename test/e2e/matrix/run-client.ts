import { FEATURE_NAMES, type FeatureName } from './combinations.ts'
import type { EraClient } from './era-client.ts'
import { CHECKS } from './features.ts'
import { reasonOf } from './reason.ts'
import { type Cell, type Combination, featuresOf, HANGS } from './results.ts'

/** How long a feature may take that worked before: a machine that other work loads is slow and no failure. */
const PATIENCE_MS = process.env.KEELSON_WRITE_MATRIX ? 15_000 : 60_000
/** How long a feature is tried that hung before. */
const SHORT_MS = 3_000

/** Tries features with one client, one after the other. Returns a cell for each. */
export async function runClient(
  combination: Combination,
  connect: () => Promise<EraClient>,
  wanted: readonly FeatureName[],
  before: (feature: FeatureName) => Cell,
): Promise<Map<FeatureName, Cell>> {
  const cells = new Map<FeatureName, Cell>()
  const names = featuresOf(combination).filter(name => wanted.includes(name))
  const patience = (name: FeatureName) => (before(name) === HANGS ? SHORT_MS : PATIENCE_MS)
  const first = names[0]
  if (first === undefined) return cells
  const opening = connect()
  const connected = await within(patience(first), () => opening)
  if (typeof connected === 'string') {
    opening.then(opened => opened.close()).catch(() => {})
    for (const name of names)
      cells.set(name, connected === HANGS ? HANGS : `no: not connected, ${connected.slice('no: '.length)}`)
    return cells
  }
  for (const name of names) {
    const label = `${combination.client.name} ${name} ${Math.random()}`
    const outcome = await within(patience(name), signal => CHECKS[name](connected, signal, label))
    cells.set(name, typeof outcome === 'string' ? outcome : 'yes')
  }
  await within(SHORT_MS, () => connected.close())
  return cells
}

/** What the work returns; the cell when it fails, or has not ended in time. */
async function within<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | `no: ${string}`> {
  const ending = new AbortController()
  const { promise: late, resolve } = Promise.withResolvers<typeof HANGS>()
  const timer = setTimeout(() => {
    resolve(HANGS)
    ending.abort()
  }, ms)
  try {
    return await Promise.race([work(ending.signal), late])
  } catch (error) {
    return `no: ${reasonOf(error)}`
  } finally {
    clearTimeout(timer)
  }
}

/** Those whose calls a shared stdio server may go on with come last, when no other client is at work. */
export const PASSES: readonly (readonly FeatureName[])[] = [
  FEATURE_NAMES.filter(name => name !== 'cancellation'),
  ['cancellation'],
]
