import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createApp } from '../../../src/app.ts'
import { printFailure } from '../../../src/cli/print-failure.ts'
import { runCli } from '../../../src/cli/run-cli.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A user in front of a terminal, or a script: runs commands and presses keys when it reads certain words. */
async function user({ terminal = false } = {}) {
  const home = await temporaryFolder()
  const log = createLog({ write: () => undefined, human: true, debug: false })
  const app = createApp({ paths: findPaths({ HOME: home }), log, env: {}, entries: builtins })
  const run = async (args: string[], keys: readonly (readonly [seen: RegExp, press: string])[] = []) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: terminal, setRawMode: () => stdin })
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    let [out, err] = ['', '']
    const open = [...keys]
    let read = 0
    stdout.on('data', chunk => {
      out += chunk
    })
    stderr.on('data', chunk => {
      err += chunk
      if (!open[0]?.[0].test(err.slice(read))) return
      read = err.length
      const press = open.shift()?.[1] ?? ''
      setImmediate(() => stdin.write(press))
    })
    onTestFinished(() => void stdin.destroy())
    const code = await runCli({
      app,
      argv: args,
      globals: { help: false, debug: false, plugins: true, verbose: false },
      streams: { stdin, stdout, stderr, out: stdout } as never,
      signal: new AbortController().signal,
    }).catch(error => printFailure(error, stderr, { debug: false }))
    return { code, out, err, unpressed: open.length }
  }
  const registered = async () =>
    JSON.parse((await run(['client', 'list-registered', '--format', 'json'])).out)
  return { home, run, registered }
}

test('status is a sorted table, installed applications first, and JSON with every member', async () => {
  const { home, run } = await user()
  await mkdir(join(home, '.kiro/settings'), { recursive: true })
  await run(['client', 'register', 'kiro'])
  const lines = (await run(['client', 'status'])).out.trimEnd().split('\n')
  expect(lines[0]).toMatch(/^CLIENT TYPE +INSTALLED +REGISTERED$/)
  expect(lines).toHaveLength(27)
  expect(lines.slice(2)).toEqual(lines.slice(2).toSorted())
  expect(lines[1]).toMatch(/^kiro +yes +yes$/)
  expect(lines.find(line => line.startsWith('zed'))).toMatch(/^zed +- +-$/)

  const all = JSON.parse((await run(['client', 'status', '--format', 'json'])).out)
  expect(all).toHaveLength(26)
  expect(all.find((one: { client_type: string }) => one.client_type === 'kiro')).toEqual({
    client_type: 'kiro',
    title: 'Kiro',
    file: expect.stringMatching(/\.kiro.settings.mcp\.json$/),
    installed: true,
    registered: true,
    supports_skills: true,
    supports_plugins: false,
  })
})

test('clients are registered in silence, listed with their groups, and removed', async () => {
  const { run } = await user()
  await run(['group', 'create', 'research'])
  expect(await run(['client', 'list-registered'])).toMatchObject({
    code: 0,
    out: 'No clients are registered.\n',
  })
  expect(await run(['client', 'register', 'zed'])).toMatchObject({ code: 0, out: '', err: '' })
  expect(await run(['client', 'register', 'zed', 'cursor', '--group', 'research'])).toMatchObject({
    code: 0,
    err: '',
  })
  expect((await run(['client', 'list-registered'])).out).toMatch(
    /^CLIENT TYPE +GROUPS\ncursor +research\nzed +default, research\n$/,
  )
  expect(await run(['client', 'remove', 'zed', '--group', 'research'])).toMatchObject({
    code: 0,
    out: '',
    err: '',
  })
  expect(await run(['client', 'remove', 'cursor'])).toMatchObject({ code: 0 })
  expect((await run(['client', 'list-registered'])).out).toMatch(/^CLIENT TYPE +GROUPS\nzed +default\n$/)
})

test('a deprecated client is registered with a warning', async () => {
  const { run, registered } = await user()
  const { code, err } = await run(['client', 'register', 'roo-code'])
  expect(code).toBe(0)
  expect(err).toMatch(/^Warning: roo-code is deprecated/)
  expect(await registered()).toEqual([{ name: 'roo-code', groups: ['default'] }])
})

test.each([
  [['register', 'cursr'], 1, /"cursr" is not a client.*Did you mean cursor\?\nClients: amp-cli, /],
  [['register', 'cursor', '--group', 'nowhere'], 1, /There is no group "nowhere"/],
  [['register'], 2, /./],
  [['remove', 'nothing'], 1, /not a client/],
  [['setup'], 2, /no terminal to ask on[\s\S]*--client[\s\S]*--installed/],
  [['setup', '--client', 'nope'], 1, /"nope" is not a client/],
])('%j fails with %i', async (args, exit, words) => {
  const { run, registered } = await user()
  const { code, out, err } = await run(['client', ...args])
  expect({ code, out }).toEqual({ code: exit, out: '' })
  expect(err).toMatch(words)
  expect(await registered()).toEqual([])
})

test('set-up takes flags where there is no terminal', async () => {
  const { home, run, registered } = await user()
  await mkdir(join(home, '.cursor'))
  await mkdir(join(home, '.vibe'))
  expect((await run(['client', 'setup', '--installed', '--client', 'kiro,zed'])).code).toBe(0)
  expect((await registered()).map(({ name }: { name: string }) => name)).toEqual([
    'cursor',
    'kiro',
    'mistral-vibe',
    'zed',
  ])
  const again = await run(['client', 'setup', '--installed'])
  expect(again).toMatchObject({ code: 0, err: expect.stringContaining('No client is installed here') })
})

test('set-up offers installed clients, marked and chosen, on a terminal', async () => {
  const { home, run, registered } = await user({ terminal: true })
  await mkdir(join(home, '.cursor'))
  const { code, err, unpressed } = await run(
    ['client', 'setup'],
    [[/Which clients may use them\?[\s\S]*installed/, '\r']],
  )
  expect({ code, unpressed }).toEqual({ code: 0, unpressed: 0 })
  expect(err).toMatch(/Cursor \(installed\)\n.*Amp\n/)
  expect(err).toContain('Registered: cursor.')
  expect(await registered()).toEqual([{ name: 'cursor', groups: ['default'] }])
})

test('set-up asks for groups when there are several', async () => {
  const { home, run, registered } = await user({ terminal: true })
  await mkdir(join(home, '.cursor'))
  await run(['group', 'create', 'research'])
  const down = '\u001b[B'
  const { code, unpressed } = await run(
    ['client', 'setup'],
    [
      [/Workloads of which groups\?[\s\S]*research/, `${down} \r`],
      [/Which clients may use them\?[\s\S]*installed/, '\r'],
    ],
  )
  expect({ code, unpressed }).toEqual({ code: 0, unpressed: 0 })
  expect(await registered()).toEqual([{ name: 'cursor', groups: ['default', 'research'] }])
})

test('set-up that is cancelled changes nothing', async () => {
  const { home, run, registered } = await user({ terminal: true })
  await mkdir(join(home, '.cursor'))
  const { code, err } = await run(['client', 'setup'], [[/Which clients/, '\u0003']])
  expect(code).toBe(0)
  expect(err).toContain('Nothing was changed.')
  expect(await registered()).toEqual([])
})
