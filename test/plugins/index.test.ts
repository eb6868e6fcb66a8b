import { expect, test } from 'vitest'
import { builtins } from '../../plugins/index.ts'

test.each(builtins.map(entry => [entry.name, entry] as const))(
  'the entry of %s says what the plugin has, no more and no less',
  async (_, entry) => {
    const plugin = await entry.load()
    const verbs = new Set(
      (plugin.commands ?? []).flatMap(command => (command.paths ?? []).map(path => path[0])),
    )

    expect(plugin.name).toBe(entry.name)
    expect([...verbs].sort()).toEqual(Object.keys(entry.verbs ?? {}).sort())
    expect(Object.keys(plugin.services ?? {}).sort()).toEqual([...(entry.services ?? [])].sort())
    expect(Object.keys(plugin.provides ?? {}).sort()).toEqual([...(entry.provides ?? [])].sort())
    const commands = new Set((plugin.provides?.flags ?? []).flatMap(group => group.of))
    expect([...commands].sort()).toEqual([...(entry.flagsOf ?? [])].sort())
  },
)

test('no two plugins have a name, service or command in common', async () => {
  const plugins = await Promise.all(builtins.map(entry => entry.load()))
  const commands = plugins.flatMap(plugin => plugin.commands ?? [])
  const services = builtins.flatMap(entry => entry.services ?? [])
  const paths = commands.flatMap(command => (command.paths ?? []).map(path => path.join(' ')))

  for (const all of [services, paths, builtins.map(entry => entry.name)]) {
    expect(all).toHaveLength(new Set(all).size)
  }
})
