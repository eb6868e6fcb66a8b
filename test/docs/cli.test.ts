import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { cliReference } from '../../scripts/docs/cli-reference.ts'

test('docs/cli.md shows the commands as they are (npm run docs)', async () => {
  expect(readFileSync('docs/cli.md', 'utf8')).toBe(await cliReference())
})

test('no command shows two groups of flags under one heading', async () => {
  const commands = (await cliReference()).split(/^### /m).slice(1)
  expect(commands.length).toBeGreaterThan(50)
  for (const command of commands) {
    const headings = command.match(/^[A-Z].*:$(?=\n\n\|)/gm) ?? []
    expect(headings, command.split('\n', 1)[0]).toEqual([...new Set(headings)])
  }
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
