import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Home, openHome } from '../../e2e/home.ts'
import { shareToolCaches } from '../../e2e/tool-caches.ts'
import { main } from '../../support/main.ts'

// The view in a real terminal of 80 by 24 characters, driven by tmux.

interface Terminal {
  type(...keys: string[]): void
  screen(): string
  /** Waits until the screen shows it. */
  shows(what: string | RegExp): Promise<void>
  /** What was put on the clipboard. */
  copied(): string
}

async function openTerminal(home: Home, env: Record<string, string> = {}): Promise<Terminal> {
  const socket = `keelson-${randomUUID().slice(0, 8)}`
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' })
  const settings = Object.entries({ ...home.env, TERM: 'screen', ...env }).map(
    ([name, value]) => `${name}=${value}`,
  )
  const command = ['env', '-i', ...settings, process.execPath, '--', main, 'tui']
  const script = join(home.path, 'start-tui')
  await writeFile(
    script,
    `#!/bin/sh\n${command.map(word => `'${word}'`).join(' ')}\necho "ended with $?"\nsleep 1000\n`,
    {
      mode: 0o755,
    },
  )
  tmux('new-session', '-d', '-x', '80', '-y', '24', script)
  onTestFinished(() => void tmux('kill-server'))
  tmux('set-option', '-g', 'set-clipboard', 'on')
  const screen = () => tmux('capture-pane', '-p')
  return {
    screen,
    type: (...keys) => void tmux('send-keys', ...keys),
    shows: what => expect.poll(screen, { timeout: 60_000 }).toMatch(what),
    copied: () => tmux('show-buffer'),
  }
}

/** A home with a server, to which nothing but api.example.com is open. */
async function homeWithServer(): Promise<Home> {
  const home = await openHome({ KEELSON_RUNTIME: 'process' })
  onTestFinished(() => home.close())
  await shareToolCaches(home)
  const profile = { network: { outbound: { allow_host: ['api.example.com'], allow_port: [443] } } }
  await writeFile(join(home.path, 'profile.json'), JSON.stringify(profile))
  const run = ['run', 'npx://@modelcontextprotocol/server-everything', '--name', 'demo']
  await home.ok([...run, '--permission-profile', 'profile.json'])
  return home
}

test('servers are seen, called, stopped, started and removed with keys', { timeout: 600_000 }, async () => {
  const home = await homeWithServer()
  const terminal = await openTerminal(home)
  await terminal.shows(/keelson: 1 of 1 workloads up\n> *demo +running/)
  await terminal.shows('Starting default (STDIO) server...')
  expect(terminal.screen()).toMatch(/^s stop {2}r restart .* \? help {2}q quit$/m)
  expect(terminal.screen().split('\n').length).toBe(25)
  expect(terminal.screen()).toMatch(/^[\x20-\x7e\n]*$/)

  terminal.type('Tab', 'Tab')
  await terminal.shows(/^ {2}get-sum +Returns the sum of two numbers/m)
  terminal.type('/')
  await terminal.shows('Search: _')
  terminal.type('sum')
  await terminal.shows('Search: sum_')
  terminal.type('Enter')
  await terminal.shows('Search: sum   (esc: show all)')
  expect(terminal.screen()).not.toContain('get-env')
  terminal.type('Enter')
  await terminal.shows(/^> get-sum/m)
  terminal.type('Enter')
  await terminal.shows(/^> a: _ +\(number, required; First number\)/m)
  terminal.type('Enter')
  await terminal.shows('a is required')
  terminal.type('2', 'Down', '40')
  await terminal.shows(/^> b: 40_/m)
  terminal.type('Enter')
  await terminal.shows('The sum of 2 and 40 is 42.')
  terminal.type('Escape')
  await terminal.shows(/^> get-sum/m)
  terminal.type('Escape')
  await terminal.shows('q quit')

  terminal.type('c')
  await terminal.shows('Copied the configuration of demo for clients')
  expect(JSON.parse(terminal.copied())).toEqual({
    mcpServers: { demo: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/) } },
  })
  terminal.type('s')
  await terminal.shows(/^> *demo +stopped/m)
  expect(await home.ok(['list', '--all'])).toMatch(/demo .* stopped/)
  terminal.type('s')
  await terminal.shows(/^> *demo +running/m)
  terminal.type('?')
  await terminal.shows('remove the workload, after a question')
  terminal.type('x')
  await terminal.shows('q quit')

  terminal.type('d')
  await terminal.shows('Remove demo for good? y: yes, any other key: no')
  terminal.type('n')
  await terminal.shows('q quit')
  expect(await home.ok(['list', '--all', '--quiet'])).toBe('demo')
  terminal.type('d')
  await terminal.shows('Remove demo for good?')
  terminal.type('y')
  await terminal.shows('No workloads yet.')
  terminal.type('q')
  await terminal.shows('ended with 0')
})

test('a denied destination is allowed with a key', { timeout: 600_000 }, async () => {
  const home = await homeWithServer()
  const log = join(home.path, '.local/share/keelson/logs/demo.log')
  const at = { time: new Date().toISOString(), level: 'WARN', msg: 'egress denied' }
  const where = {
    host: 'example.org',
    port: 443,
    rule: 'not_in_allow_host',
    reason: 'it is not in\u001b[2J allow_host',
  }
  const inside = { host: '10.0.0.1', port: 443, rule: 'private', reason: '10.0.0.1 is a private address' }
  await appendFile(log, [inside, where].map(one => `${JSON.stringify({ ...at, ...one })}\n`).join(''))
  const terminal = await openTerminal(home, { NO_COLOR: '1' })
  await terminal.shows(/^>/m)
  terminal.type('BTab')
  await terminal.shows(/example\.org:443 {2}it is not in allow_host/)
  terminal.type('Enter')
  await terminal.shows(/^> .*example\.org/m)
  terminal.type('a')
  await terminal.shows('demo may reach example.org:443 from now on.')
  const config = JSON.parse(await home.ok(['export', 'demo']))
  expect(config.permission_profile.network.outbound).toEqual({
    allow_host: ['api.example.com', 'example.org'],
    allow_port: [443],
  })
  terminal.type('Down')
  await terminal.shows(/^> .*10\.0\.0\.1/m)
  terminal.type('a')
  await terminal.shows('or its profile cannot allow it')

  const long = { ...where, host: `api.example.com.${'a'.repeat(60)}.example` }
  await appendFile(log, `${JSON.stringify({ ...at, ...long })}\n`)
  await terminal.shows('api.example.com.aaa')
  terminal.type('Up', 'Up')
  await terminal.shows(/^> .*api\.example\.com\.aaa/m)
  terminal.type('a')
  await terminal.shows('too long to be seen whole')
})

test('the answer to a question is about the workload of the question', { timeout: 600_000 }, async () => {
  const home = await homeWithServer()
  await home.ok(['clone', 'demo', 'other'])
  const terminal = await openTerminal(home)
  await terminal.shows('2 of 2 workloads up')
  terminal.type('Down')
  await terminal.shows(/^> *other/m)
  terminal.type('d')
  await terminal.shows('Remove other for good?')
  await home.ok(['rm', 'other'])
  await terminal.shows('1 of 1 workloads up')
  terminal.type('y')
  await terminal.shows('There is no workload "other"')
  expect(await home.ok(['list', '--all', '--quiet'])).toBe('demo')
})

test('without a terminal it says what works', async () => {
  const home = await openHome()
  onTestFinished(() => home.close())
  expect(await home.keelson(['tui'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('needs a terminal for its input and its output'),
  })
})
