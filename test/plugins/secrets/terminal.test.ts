import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
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
  const home = await temporaryFolder()
  const paths = findPaths({ HOME: home })
  const log = createLog({ write: () => undefined, human: true, debug: false })
  const app = () => createApp({ paths, log, env: {}, entries: builtins })
  const type = async (args: string[], answers: readonly (readonly [question: RegExp, answer: string])[]) => {
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
    const code = await runCli({
      app: app(),
      argv: args,
      globals: { help: false, debug: false, plugins: true, verbose: false },
      streams: { stdin, stdout, stderr, out: stdout } as never,
      signal: new AbortController().signal,
    })
    return { code, screen, result, unasked: open.length }
  }
  return Object.assign(type, { app, home })
}

test('set-up offers what there is, asks again, and asks a new password twice', async () => {
  const type = await person()

  const shown = await type(
    ['secret', 'setup'],
    [
      [/Number or name \[encrypted\]: /, 'nonsense'],
      [/not one of them[\s\S]*Number or name/, '1'],
      [/Keep a key in .*secrets\.key.*\[Y\/n\]/, 'n'],
      [/New password/, 'correct horse'],
      [/Once more/, 'correct horse'],
    ],
  )

  expect(shown).toMatchObject({ code: 0, unasked: 0 })
  expect(shown.screen).toMatch(/1\) encrypted: [\s\S]*2\) environment: [\s\S]*3\) 1password: /)
  expect(shown.screen).not.toContain('horse')
})

test('without a keyring, set-up keeps a random key in a file of the user, so that no password is asked for', async () => {
  const type = await person()
  const shown = await type(
    ['secret', 'setup'],
    [
      [/Number or name/, 'encrypted'],
      [/in the background[\s\S]*Keep a key in .*secrets\.key/, ''],
    ],
  )
  expect(shown).toMatchObject({ code: 0, unasked: 0 })
  expect(await type(['secret', 'set', 'TOKEN'], [[/Value of TOKEN/, 'planted']])).toMatchObject({ code: 0 })
  expect(await type(['secret', 'get', 'TOKEN'], [])).toMatchObject({ code: 0, result: 'planted\n' })
  const path = join(type.home, '.config/keelson/secrets.key')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await readFile(path, 'utf8')).length).toBeGreaterThan(40)
})

test('run asks for what is missing: a place for secrets, a secret, and the password for the background', async () => {
  const type = await person()
  const service = () => type.app().service('secrets')
  const answers = ['y', '', 'planted']
  const questions: string[] = []
  const at = (replies: (string | undefined)[]) => ({
    background: true,
    say: (text: string) => void questions.push(text),
    ask: async (question: string) => {
      questions.push(question)
      return replies.shift()
    },
  })
  await (await service()).resolveWith(['TOKEN,target=A'], at(answers))
  expect(questions.join('\n')).toMatch(
    /No place for secrets[\s\S]*Keep a key in[\s\S]*Value of the secret TOKEN/,
  )
  expect(await (await service()).resolve(['TOKEN,target=A'])).toEqual({ A: 'planted' })
  const alone = (await service()).resolveWith(['OTHER,target=A'], at([undefined]))
  await expect(alone).rejects.toMatchObject({ code: 'secrets_missing' })
})

test('run keeps a password that it had to ask for, if the person wants that', async () => {
  const type = await person()
  const service = () => type.app().service('secrets')
  const at = (replies: (string | undefined)[]) => ({
    background: true,
    say: () => undefined,
    ask: async () => replies.shift(),
  })
  const twice = ['n', 'correct horse', 'correct horse']
  await (await service()).setUpWith('encrypted', at(twice))
  await (await service()).resolveWith(['TOKEN,target=A'], at(['correct horse', 'planted', 'n']))
  await expect((await service()).resolve(['TOKEN,target=A'])).rejects.toMatchObject({
    code: 'secrets_password_needed',
  })
  await (await service()).resolveWith(['TOKEN,target=A'], at(['correct horse', '']))
  expect(await (await service()).resolve(['TOKEN,target=A'])).toEqual({ A: 'planted' })
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
