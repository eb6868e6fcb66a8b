import { createHash } from 'node:crypto'
import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'

/** Identifies what a server is started with: the run config without the members that change while it runs. */
export async function digestOf(app: App, config: RunConfig): Promise<string> {
  const sections = await app.contributions('sections')
  const live = new Set(
    sections.flatMap(({ changeLive, members = {} }) => (changeLive ? Object.keys(members) : [])),
  )
  const members = Object.entries(config)
    .filter(([name]) => !live.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(members)).digest('hex')
}
