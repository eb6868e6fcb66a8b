import { expect, test } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { commandsOfPlugin } from '../support/commands-of-plugin.ts'

test.each(builtins.map(entry => [entry.name, entry] as const))(
  'the entry of %s says what the plugin has, no more and no less',
  async (_, entry) => {
    const plugin = await entry.load()
    const commands = await commandsOfPlugin(entry)
    const verbs = new Set(commands.flatMap(command => (command.paths ?? []).map(path => path[0])))

    expect(plugin.name).toBe(entry.name)
    expect([...verbs].sort()).toEqual(Object.keys(entry.verbs ?? {}).sort())
    expect(Object.keys(plugin.services ?? {}).sort()).toEqual([...(entry.services ?? [])].sort())
    for (const [verb, load] of Object.entries(entry.commands ?? {})) {
      for (const { paths = [] } of await load()) expect(paths.map(([first]) => first)).toContain(verb)
    }
    const groups = (await entry.flags?.()) ?? []
    const provides = [...Object.keys(plugin.provides ?? {}), ...(groups.length ? ['flags'] : [])]
    expect(provides.sort()).toEqual([...(entry.provides ?? [])].sort())
    const takers = new Set(groups.flatMap(group => group.of))
    expect([...takers].sort()).toEqual([...(entry.flagsOf ?? [])].sort())
  },
)

test('no two plugins have a name, service or command in common', async () => {
  const commands = (await Promise.all(builtins.map(commandsOfPlugin))).flat()
  const services = builtins.flatMap(entry => entry.services ?? [])
  const paths = commands.flatMap(command => (command.paths ?? []).map(path => path.join(' ')))

  for (const all of [services, paths, builtins.map(entry => entry.name)]) {
    expect(all).toHaveLength(new Set(all).size)
  }
})
