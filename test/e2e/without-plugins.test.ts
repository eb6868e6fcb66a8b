import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import type { Plugin, PluginEntry } from '../../src/plugin.ts'
import { buildWithoutPlugins } from '../support/build-without-plugins.ts'
import { plantPackage, STRANGER } from '../support/hostile/plant-package.ts'
import { openHome } from './home.ts'

// Every plugin that the rest does not require can be left out, and workloads run as before.

const plugins = new Map<PluginEntry, Plugin>()
for (const entry of builtins) plugins.set(entry, await entry.load())

/** Names of the plugins that a plugin imports, or whose services it cannot do without. */
const requiredBy = ({ needs = [], uses = [] }: Plugin): readonly string[] => [
  ...needs,
  ...builtins
    .filter(({ services = [] }) => uses.some(name => services.includes(name)))
    .map(({ name }) => name),
]

/** The named plugins with all that they require. */
function closureOf(names: readonly string[]): ReadonlySet<string> {
  const found = new Set(names)
  for (const name of found) {
    const plugin = [...plugins.values()].find(candidate => candidate.name === name)
    for (const required of plugin ? requiredBy(plugin) : []) found.add(required)
  }
  return found
}

/** A plugin with all that cannot be there without it. */
const dependentsOf = (name: string): readonly string[] =>
  builtins.map(entry => entry.name).filter(other => closureOf([other]).has(name))

const indispensable = closureOf(['workloads', 'runtime-process'])
const optional = builtins.map(({ name }) => name).filter(name => !indispensable.has(name))

let program: Awaited<ReturnType<typeof buildWithoutPlugins>>
beforeAll(async () => {
  program = await buildWithoutPlugins()
}, 120_000)
afterAll(() => program?.remove())

test('most plugins are optional', () => {
  expect(optional.length).toBeGreaterThan(builtins.length / 2)
})

test.each([
  ...optional.map(name => [name, dependentsOf(name)] as const),
  ['all optional plugins', optional] as const,
])('without %s a server is run, listed, stopped and removed', { timeout: 120_000 }, async (_, absent) => {
  const home = await openHome({ TEST_WITHOUT_PLUGINS: absent.join(',') }, program.main)
  let isRemoved = false
  try {
    await plantPackage(home.path)

    const url = await home.ok(['run', STRANGER, '--name', 'one', '--runtime', 'process'])
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    expect(JSON.parse(await home.ok(['list', '--format', 'json']))).toMatchObject([
      { name: 'one', status: 'running' },
    ])
    await home.ok(['stop', 'one'])
    expect(await home.ok(['list', '--all'])).toContain('stopped')
    await home.ok(['rm', 'one'])
    expect(await home.ok(['list', '--all'])).toContain('There are no workloads')
    isRemoved = true
  } finally {
    await (isRemoved ? home.closeRemote() : home.close())
  }
})
