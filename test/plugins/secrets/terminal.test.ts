import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createApp } from '../../../src/app.ts'
import { runCli } from '../../../src/cli/run-cli.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A person at a terminal: sees `screen`, types what is asked for. */
async function person() {
  const paths = findPaths({ HOME: await temporaryFolder() })
  const log = createLog({ write: () => undefined, human: true, debug: false })
  return async (args: string[], answers: readonly (readonly [question: RegExp, answer: string])[]) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: vi.fn() })
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    let [screen, result] = ['', '']
    const open = [...answers]
    let seen = 0
    stdout.on('data', chunk => {
      result += chunk
    })
    stderr.on('data', chunk => {
      screen += chunk
      const [question, answer] = open[0] ?? []
      if (!question?.test(screen.slice(seen))) return
      open.shift()
      seen = screen.length
      setImmediate(() => stdin.write(`${answer}\n`))
    })
    onTestFinished(() => void stdin.destroy())
    const app = createApp({ paths, log, env: {}, entries: builtins })
    const code = await runCli({
      app,
      argv: args,
      globals: { help: false, debug: false, plugins: true },
      streams: { stdin, stdout, stderr } as never,
      signal: new AbortController().signal,
    })
    return { code, screen, result, unasked: open.length }
  }
}

test('set-up offers what there is, asks again, and asks a new password twice', async () => {
  const type = await person()

  const shown = await type(
    ['secret', 'setup'],
    [
      [/Number or name \[encrypted\]: /, 'nonsense'],
      [/not one of them[\s\S]*Number or name/, '1'],
      [/New password/, 'correct horse'],
      [/Once more/, 'correct horse'],
    ],
  )

  expect(shown).toMatchObject({ code: 0, unasked: 0 })
  expect(shown.screen).toMatch(/1\) encrypted: [\s\S]*2\) environment: [\s\S]*3\) 1password: /)
  expect(shown.screen).not.toContain('horse')
})

test('a value and the password are typed without echo', async () => {
  const type = await person()
  const password = [/Password of the secrets/, 'correct horse'] as const
  await type(
    ['secret', 'provider', 'encrypted'],
    [
      [/New password/, 'correct horse'],
      [/Once more/, 'correct horse'],
    ],
  )

  const set = await type(['secret', 'set', 'TOKEN'], [[/Value of TOKEN/, 'planted'], password])
  const got = await type(['secret', 'get', 'TOKEN'], [password])

  expect(set.screen).not.toMatch(/planted|horse/)
  expect(got).toMatchObject({ code: 0, result: 'planted\n', unasked: 0 })
})

test('the provider in use is marked and preset', async () => {
  const type = await person()
  await type(['secret', 'provider', 'environment'], [])

  const shown = await type(['secret', 'setup'], [[/Number or name \[environment\]: /, '']])

  expect(shown).toMatchObject({ code: 0, unasked: 0 })
  expect(shown.screen).toMatch(/2\) environment: .*\(in use\)/)
})
