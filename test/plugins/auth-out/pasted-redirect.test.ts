import { expect, test } from 'vitest'
import { liveTerminal } from '../../support/live-terminal.ts'
import { login, world } from './login-world.ts'

const PROMPT = 'paste the address it ended at'
const urlOn = (screen: string): string => /^https?:\S+/m.exec(screen)?.[0] ?? ''

test('with --remote-auth-skip-browser the URL that a browser elsewhere ended at is taken, and no other one', {
  timeout: 120_000,
}, async () => {
  const { home, provider, server, status, asked } = await world()
  const terminal = liveTerminal(home, login(server, 'far'))
  const url = urlOn(await terminal.sees(PROMPT))
  const ended = await provider.visitElsewhere(url)
  expect(ended).toMatch(/^http:\/\/localhost:\d+\/callback\?/)

  terminal.type('https://example.com/\r')
  await terminal.sees('It is not used: that is not the whole URL: it holds no code.')
  await terminal.sees(PROMPT)
  const foreign = new URL(ended)
  foreign.searchParams.set('state', 'of-another-login')
  terminal.type(`${foreign.href}\r`)
  await terminal.sees('It is not used: that URL belongs to another login.')
  await terminal.sees(PROMPT)
  expect(asked('authorization_code')).toBe(0)
  terminal.type(`${ended}\r`)

  expect(await terminal.ended).toBe(0)
  expect((await status('far')).status).toBe('running')
  expect(asked('authorization_code')).toBe(1)
})

test('the browser of this machine still comes back while the question is asked', {
  timeout: 120_000,
}, async () => {
  const { home, provider, server, status } = await world()
  const terminal = liveTerminal(home, login(server, 'far'))
  await provider.visit(urlOn(await terminal.sees(PROMPT)))

  expect(await terminal.ended).toBe(0)
  expect((await status('far')).status).toBe('running')

  const again = liveTerminal(home, ['auth', 'login', 'far', '--skip-browser'])
  again.type(`${await provider.visitElsewhere(urlOn(await again.sees(PROMPT)))}\r`)
  await again.sees('Logged in at')
  expect(await again.ended).toBe(0)
})

test('an interrupt at the question ends the login, and nothing is made', { timeout: 120_000 }, async () => {
  const { home, server } = await world()
  const terminal = liveTerminal(home, login(server, 'far'))
  await terminal.sees(PROMPT)

  terminal.type('\u0003')

  expect(await terminal.ended).not.toBe(0)
  expect(await home.ok(['list', '--all', '--format', 'json'])).toBe('[]')
})
