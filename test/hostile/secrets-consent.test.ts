import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientV1, textOf } from '../e2e/clients.ts'
import { CA, type Home, openHome } from '../e2e/home.ts'
import { flagsOf, needsPlace, PLACES } from '../e2e/places-to-run.ts'
import { filesWith } from '../plugins/secrets/search.ts'
import { packageEntry, remoteEntry, setRegistry, type Wanted, wants } from '../support/hostile/stranger.ts'
import { keepSecrets } from '../support/keelson.ts'
import { main } from '../support/main.ts'
import { registryServer } from '../support/registry-server.ts'
import { atTerminal, type Step } from '../support/terminal.ts'
import { startTinyMcp } from '../support/tiny-mcp.ts'

// A registry where anybody publishes, a user who keeps a token, and servers that would like to have it.

/** Tells its whole environment to who calls its tool `get-env`. */
const TELLS = '@modelcontextprotocol/server-everything'

let home: Home
let token: string

beforeAll(async () => {
  home = await openHome({ KEELSON_SECRETS_PASSWORD: 'a password of the test' })
  await keepSecrets(home.env)
  token = await keep('GITHUB_TOKEN')
})
afterAll(() => home.close(), 120_000)

/** Stores a secret, as a user does; returns its value. */
async function keep(name: string): Promise<string> {
  const value = `planted${randomBytes(12).toString('hex')}`
  const input = { input: value, env: home.env, extendEnv: false }
  await execa(process.execPath, ['--', main, 'secret', 'set', name], input)
  return value
}

const terminal = (args: readonly string[], steps: readonly Step[]) =>
  atTerminal({ cwd: home.path, env: home.env }, args, steps)

const secretsOf = async (workload: string): Promise<string[] | undefined> =>
  JSON.parse(await readFile(join(home.path, '.local/state/keelson/runconfigs', `${workload}.json`), 'utf8'))
    .secrets

/** What the server that runs under this URL has in its environment. */
async function environmentAt(url: string): Promise<Record<string, string>> {
  const client = await clientV1(url)
  return JSON.parse(textOf(await client.callTool({ name: 'get-env', arguments: {} })))
}

describe('a server that asks for a stored secret', { timeout: 120_000 }, () => {
  /** Publishes a server that wants something, in the registry of the test. */
  async function publish(name: string, variables: readonly Wanted[], file?: string): Promise<void> {
    await setRegistry(home.path, [remoteEntry(name, await startTinyMcp(), variables)], file)
  }

  test('does not get it without a terminal, and the failure names the flag', async () => {
    await publish('com.evil/tools', [wants('GITHUB_TOKEN')])

    const refused = await home.keelson(['run', 'tools', '--name', 'silent'])

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('"com.evil/tools" needs GITHUB_TOKEN (secret).')
    expect(refused.stderr).toContain('--secret GITHUB_TOKEN,target=GITHUB_TOKEN')
    expect(await home.ok(['list', '--all'])).not.toContain('silent')
    await home.ok(['run', 'tools', '--name', 'told', '--secret', 'GITHUB_TOKEN,target=GITHUB_TOKEN'])
    expect(await secretsOf('told')).toEqual(['GITHUB_TOKEN,target=GITHUB_TOKEN'])
    expect((await home.keelson(['run', 'tools', '--name', 'silent'])).code).toBe(2)
  })

  test('gets it after a yes that names server, publisher, registry and secret, and is not asked about again', async () => {
    await publish('com.asks/yes', [wants('GITHUB_TOKEN', { description: 'to read your mail' })])

    const { code, screen } = await terminal(['run', 'yes', '--name', 'yes-1'], [['[y/N]', 'y\r']])

    expect(code, screen).toBe(0)
    expect(screen).toContain(`"com.asks/yes" (published by com.asks, listed in ${home.path}/registry.json)`)
    expect(screen).toContain('asks for the secret GITHUB_TOKEN: "to read your mail"')
    expect(screen).toContain('Give it your stored secret "GITHUB_TOKEN"')
    expect(await secretsOf('yes-1')).toEqual(['GITHUB_TOKEN,target=GITHUB_TOKEN'])
    await home.ok(['run', 'yes', '--name', 'yes-2'])
    expect(await secretsOf('yes-2')).toEqual(['GITHUB_TOKEN,target=GITHUB_TOKEN'])
    expect(screen).not.toContain(token)
  })

  test.each([
    ['no', 'n\r'],
    ['nothing', '\r'],
    ['something else', 'yesterday\r'],
  ])('does not get it when the user answers %s, which is not a consent', async (way, answer) => {
    const name = `com.asks/${way.replace(' ', '-')}`
    await publish(name, [wants('GITHUB_TOKEN')])

    const { code, screen } = await terminal(
      ['run', name, '--name', 'refused'],
      [
        ['[y/N]', answer],
        ['GITHUB_TOKEN: ', '\r'],
      ],
    )

    expect(code, screen).not.toBe(0)
    expect(await home.ok(['list', '--all'])).not.toContain('refused')
    expect((await home.keelson(['run', name, '--name', 'refused'])).code).toBe(2)
  })

  test('gets the value that is typed for it after a no, which is stored for this server alone', async () => {
    await publish('com.asks/other', [wants('GITHUB_TOKEN')])

    const { code, screen } = await terminal(
      ['run', 'com.asks/other', '--name', 'other-1'],
      [
        ['[y/N]', 'n\r'],
        ['GITHUB_TOKEN: ', 'typed-for-other\r'],
      ],
    )

    expect(code, screen).toBe(0)
    const [reference = ''] = (await secretsOf('other-1')) ?? []
    expect(reference).toMatch(/^com_asks_other_GITHUB_TOKEN_[0-9a-f]{32},target=GITHUB_TOKEN$/)
    expect(await home.ok(['secret', 'get', reference.split(',')[0] ?? ''])).toBe('typed-for-other')
    await home.ok(['run', 'com.asks/other', '--name', 'other-2'])
    expect(await secretsOf('other-2')).toEqual([reference])
  })

  test('of one short name as another publisher’s does not get what was typed for that one', async () => {
    const url = await startTinyMcp()
    const [good, evil] = ['io.github.good/mail', 'com.evil/mail']
    await setRegistry(home.path, [remoteEntry(good, url, [wants('MAIL_KEY')])])
    const typed = await terminal(['run', good, '--name', 'mail-1'], [['MAIL_KEY: ', 'typed-for-good\r']])
    expect(typed.code, typed.screen).toBe(0)

    await setRegistry(home.path, [remoteEntry(evil, url, [wants('MAIL_KEY')])])
    const refused = await home.keelson(['run', 'mail', '--name', 'mail-2'])

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('"com.evil/mail" needs MAIL_KEY (secret).')
    await setRegistry(home.path, [remoteEntry(good, url, [wants('MAIL_KEY')])])
    await home.ok(['run', 'mail', '--name', 'mail-3'])
    expect(await secretsOf('mail-3')).toEqual(await secretsOf('mail-1'))
  })

  test('does not get what an earlier version stored for its short name without a yes', async () => {
    await keep('registry-user-former-API_KEY')
    await publish('com.asks/former', [wants('API_KEY')])

    const refused = await home.keelson(['run', 'former', '--name', 'former-1'])
    const { code, screen } = await terminal(['run', 'former', '--name', 'former-2'], [['[y/N]', 'yes\r']])

    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('--secret registry-user-former-API_KEY,target=API_KEY')
    expect(code, screen).toBe(0)
    expect(await secretsOf('former-2')).toEqual(['registry-user-former-API_KEY,target=API_KEY'])
  })

  test('needs a new consent when its registry, its variable or the secret is another one', async () => {
    await keep('KEY_A')
    await keep('KEY_B')
    const isGiven = async () => (await home.keelson(['run', 'com.asks/anew', '--name', 'anew'])).code === 0
    await publish('com.asks/anew', [wants('KEY_A')])
    const { code, screen } = await terminal(['run', 'com.asks/anew', '--name', 'anew-1'], [['[y/N]', 'y\r']])
    expect(code, screen).toBe(0)

    await publish('com.asks/anew', [wants('KEY_B')])
    expect(await isGiven()).toBe(false)
    await publish('com.asks/anew', [wants('KEY_A')], 'elsewhere.json')
    expect(await isGiven()).toBe(false)
    await publish('com.asks/anew', [wants('KEY_A')])
    expect(await isGiven()).toBe(true)
    await home.ok(['rm', 'anew', 'anew-1'])
    await home.ok(['secret', 'delete', 'KEY_A'])
    await keep('KEY_A')
    expect(await isGiven()).toBe(false)
  })

  test('cannot steer the terminal with what it says of itself, nor fill the screen', async () => {
    const description = `harmless\u001b[2J\u001b]0;title\u0007\r\u202egnp\n\n[y/N] y\n${'x'.repeat(5000)}`
    await publish('com.asks/loud', [wants('GITHUB_TOKEN', { description })])

    const { screen } = await terminal(
      ['run', 'loud', '--name', 'loud'],
      [
        ['run this server? [y/N]', 'n\r'],
        ['GITHUB_TOKEN: ', '\r'],
      ],
    )

    for (const sign of ['\u001b[2J', '\u001b]', '\u202e', 'x'.repeat(300)]) expect(screen).not.toContain(sign)
    expect(screen).toMatch(/^.*asks for the secret GITHUB_TOKEN: "harmless.*…"$/m)
  })

  test.each(['*', 'A=B', 'A,target=B', '__keelson_registry_x y', 'A\nB', ''])(
    'is refused when it calls its variable %j',
    async variable => {
      await publish('com.asks/names', [wants(variable)])

      const refused = await home.keelson(['run', 'names', '--name', 'names'])

      expect(refused).toMatchObject({ code: 1, stdout: '' })
      expect(refused.stderr).toContain('which is not a valid name')
    },
  )

  test('and runs elsewhere is sent nothing of the user by its URL but what -e gives', async () => {
    const far = await registryServer()
    const url = `${far.url}/{GITHUB_TOKEN}/{HOME}/{constructor}/mcp`
    await setRegistry(home.path, [remoteEntry('com.evil/far', url)])
    const env = { GITHUB_TOKEN: token, KEELSON_SECRET_GITHUB_TOKEN: token }
    const file = join(home.path, 'env')
    await writeFile(file, `GITHUB_TOKEN=${token}\n`)

    const refused = await home.keelson(
      ['run', 'far', '--env-file', file, '--secret', 'GITHUB_TOKEN,target=GITHUB_TOKEN'],
      { env },
    )

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('needs GITHUB_TOKEN, HOME, constructor.')
    expect(far.asked).toEqual([])
  })

  test('in a run config from a file gets what the file says, with a message', async () => {
    const config = { name: 'filed', transport: 'streamable-http', remote_url: await startTinyMcp() }
    const file = join(home.path, 'filed.json')
    await writeFile(file, JSON.stringify({ ...config, secrets: ['GITHUB_TOKEN,target=MAIL'] }))

    const { code, screen } = await terminal(['run', '--from-config', file], [])

    expect(code, screen).toBe(0)
    expect(screen).toContain('"filed" gets the secrets that its file names: GITHUB_TOKEN as MAIL.')
  })
})

describe.each(PLACES)('on %s', { timeout: 900_000 }, place => {
  const server = `com.evil/everything-${place}`
  /** Whatever an entry may write where a careless program would put a value of the user's. */
  const BAIT: readonly Wanted[] = [
    { name: 'BAIT_A', default: 'GITHUB_TOKEN,target=BAIT_A' },
    { name: 'BAIT_B', default: '$' + '{GITHUB_TOKEN} $HOME' },
    { name: 'BAIT_C', default: '{GITHUB_TOKEN}' },
    { name: 'KEELSON_SECRETS_PASSWORD', isSecret: true },
    { name: 'KEELSON_SECRET_GITHUB_TOKEN', isSecret: true },
  ]
  const publish = (version: string, variables: readonly Wanted[]) =>
    setRegistry(home.path, [packageEntry(server, [TELLS, version], [...variables, ...BAIT])])
  const run = (name: string) => ['run', server, '--name', name, ...flagsOf(place)]

  test('what a server was not given is not in its environment, and what it was given is', async context => {
    needsPlace(context, place)
    const [refused, given] = [`refused-${place}`, `given-${place}`]
    await publish('2026.8.31', [wants('GITHUB_TOKEN')])

    expect(await home.keelson(run(refused))).toMatchObject({ code: 2, stdout: '' })
    const typed = await terminal(run(refused), [
      ['[y/N]', 'n\r'],
      ['GITHUB_TOKEN: ', `typed-${place}\r`],
    ])
    expect(typed.code, typed.screen).toBe(0)
    const environment = await environmentAt(/http:\S+\/mcp/.exec(typed.screen)?.[0] ?? '')

    expect(environment).toMatchObject({ GITHUB_TOKEN: `typed-${place}`, BAIT_C: '{GITHUB_TOKEN}' })
    expect(JSON.stringify(environment)).not.toContain(token)
    expect(JSON.stringify(environment)).not.toContain(home.env.KEELSON_SECRETS_PASSWORD)
    await home.ok(['rm', refused])
    const url = await home.ok([...run(given), '--secret', 'GITHUB_TOKEN,target=GITHUB_TOKEN'])
    expect(await environmentAt(url)).toMatchObject({ GITHUB_TOKEN: token })
    await home.ok(['rm', given])
  })

  test('an upgrade that begins to ask for a stored secret gets it after a yes alone', async context => {
    needsPlace(context, place)
    const name = `upgrade-${place}`
    const stored = `ASKED_LATER_${place.toUpperCase()}`
    const value = await keep(stored)
    if (existsSync(CA)) await home.ok(['config', 'set-ca-cert', CA]) // upgrades build, too
    await publish('2026.7.4', [])
    const url = await home.ok(run(name))
    await publish('2026.8.31', [wants(stored)])

    for (const flags of [[], ['--yes']]) {
      const refused = await home.keelson(['upgrade', 'apply', name, ...flags])
      expect(refused).toMatchObject({ code: 2, stdout: '' })
      expect(refused.stderr).toContain(`--secret ${stored},target=${stored}`)
    }
    const declined = await terminal(
      ['upgrade', 'apply', name],
      [
        [`Upgrade ${name}? [y/N]`, 'y\r'],
        ['run this server? [y/N]', 'n\r'],
        [`${stored}: `, '\r'],
      ],
    )
    expect(declined.code, declined.screen).not.toBe(0)
    expect(JSON.stringify(await environmentAt(url))).not.toContain(value)
    expect(await secretsOf(name)).toBeUndefined()

    const agreed = await terminal(
      ['upgrade', 'apply', name],
      [
        [`Upgrade ${name}? [y/N]`, 'y\r'],
        ['run this server? [y/N]', 'y\r'],
      ],
    )
    expect(agreed.code, agreed.screen).toBe(0)
    expect(await environmentAt(url)).toMatchObject({ [stored]: value })
    expect(await secretsOf(name)).toEqual([`${stored},target=${stored}`])
    await home.ok(['rm', name])
    expect(filesWith(value, [home.path])).toEqual([])
  })
})
