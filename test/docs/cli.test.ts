import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { cliReference } from '../../scripts/docs/cli-reference.ts'
import { programHelp } from '../../src/cli/help.ts'
import { commandsOfPlugin } from '../support/commands-of-plugin.ts'

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

test('the first page of help has a line for each first word, as the command says it', async () => {
  const page = programHelp(builtins, '1')
  for (const entry of builtins) {
    for (const { paths, usage } of await commandsOfPlugin(entry)) {
      const [verb = '', next] = paths?.[0] ?? []
      if (usage && next === undefined) expect(entry.verbs?.[verb], verb).toBe(usage.description)
      if (usage) expect(page).toMatch(new RegExp(`^  ${verb} +[a-z]`, 'm'))
    }
  }
  expect(page.split('\n').length).toBeLessThan(63)
  expect(page.split('\n').every(line => line.length <= 80)).toBe(true)
})
