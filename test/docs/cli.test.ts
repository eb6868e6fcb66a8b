import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { cliReference } from '../../scripts/docs/cli-reference.ts'

test('docs/cli.md shows the commands as they are (npm run docs)', async () => {
  expect(readFileSync('docs/cli.md', 'utf8')).toBe(await cliReference())
})

test('every plugin has the verbs that the list of plugins says, and no others', async () => {
  for (const entry of builtins) {
    const { commands = [] } = await entry.load()
    const verbs = new Set(commands.flatMap(command => command.paths?.map(([verb]) => verb) ?? []))
    expect([...verbs].toSorted(), entry.name).toEqual([...(entry.verbs ?? [])].toSorted())
  }
})

test('every plugin has the services and contributions that the list of plugins says', async () => {
  for (const entry of builtins) {
    const { services = {}, provides = {} } = await entry.load()
    expect(Object.keys(services).toSorted(), entry.name).toEqual([...(entry.services ?? [])].toSorted())
    expect(Object.keys(provides).toSorted(), entry.name).toEqual([...(entry.provides ?? [])].toSorted())
  }
})
