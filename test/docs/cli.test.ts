import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { cliReference } from '../../scripts/docs/cli-reference.ts'
import { programHelp } from '../../src/cli/help.ts'

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
    expect([...verbs].toSorted(), entry.name).toEqual(Object.keys(entry.verbs ?? {}).toSorted())
  }
})

test('the first page of help has a line for each first word, as the command says it', async () => {
  const page = programHelp(builtins, '1')
  for (const entry of builtins) {
    const { commands = [] } = await entry.load()
    for (const { paths, usage } of commands) {
      const [verb = '', next] = paths?.[0] ?? []
      if (usage && next === undefined) expect(entry.verbs?.[verb], verb).toBe(usage.description)
      if (usage) expect(page).toMatch(new RegExp(`^  ${verb} +[a-z]`, 'm'))
    }
  }
  expect(page.split('\n').length).toBeLessThan(62)
  expect(page.split('\n').every(line => line.length <= 80)).toBe(true)
})

test('every plugin has the services and contributions that the list of plugins says', async () => {
  for (const entry of builtins) {
    const { services = {}, provides = {} } = await entry.load()
    expect(Object.keys(services).toSorted(), entry.name).toEqual([...(entry.services ?? [])].toSorted())
    expect(Object.keys(provides).toSorted(), entry.name).toEqual([...(entry.provides ?? [])].toSorted())
  }
})
