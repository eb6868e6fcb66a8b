import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isFailure } from '../../../src/errors.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { deskAt, up } from './desk.ts'

const desk = async () => deskAt(await temporaryFolder())
const serversOf = (text: string) => JSON.parse(text).mcpServers as Record<string, { url: string }>
const codeOf = (error: unknown) => (isFailure(error) ? error.code : String(error))
const failureOf = (work: Promise<unknown>) => work.then(() => 'none', codeOf)

describe('what files hold', () => {
  test('a registered client gets what runs in its group, and loses what stops', async () => {
    const { clients, workloads, read } = await desk()
    workloads.push(up('fetch'), up('down', { presence: 'down' }))
    expect(await clients.register(['cursor'])).toEqual([])
    expect(serversOf(await read('cursor'))).toEqual({
      fetch: { url: 'http://127.0.0.1:4000/fetch', type: 'http' },
    })
    workloads.splice(0, 2, up('other'))
    await clients.sync()
    expect(Object.keys(serversOf(await read('cursor')))).toEqual(['other'])
  })

  test('a client sees the workloads of its groups alone', async () => {
    const { clients, groups, workloads, read } = await desk()
    await groups.create('research')
    workloads.push(up('mine', { group: 'research' }), up('theirs'), up('also', { group: 'default' }))
    await clients.register(['cursor'], ['research'])
    await clients.register(['kiro'])
    expect(Object.keys(serversOf(await read('cursor')))).toEqual(['mine'])
    expect(Object.keys(serversOf(await read('kiro')))).toEqual(['theirs', 'also'])
  })

  test('a workload that is brought back keeps its entry, and gets none while it first starts', async () => {
    const { clients, workloads, read } = await desk()
    workloads.push(up('fetch'))
    await clients.register(['cursor'])
    workloads.splice(0, 1, up('fetch', { presence: 'between' }), up('new', { presence: 'between' }))
    await clients.sync()
    expect(Object.keys(serversOf(await read('cursor')))).toEqual(['fetch'])
  })

  test('a workload at another URL changes its entry, and what the client added to it stays', async () => {
    const { clients, workloads, read, write } = await desk()
    workloads.push(up('fetch'))
    await clients.register(['cline'])
    const text = await read('cline')
    await write('cline', text.replace('"url"', '"disabled": true, "url"'))
    workloads.splice(0, 1, up('fetch', { url: 'http://127.0.0.1:9/sse#fetch', proxy_mode: 'sse' }))
    await clients.sync()
    expect(serversOf(await read('cline')).fetch).toEqual({
      disabled: true,
      url: 'http://127.0.0.1:9/sse#fetch',
      type: 'sse',
    })
  })

  test('Gemini moves between its two members when the transport changes', async () => {
    const { clients, workloads, read } = await desk()
    workloads.push(up('fetch'))
    await clients.register(['gemini-cli'])
    expect(serversOf(await read('gemini-cli')).fetch).toEqual({ httpUrl: 'http://127.0.0.1:4000/fetch' })
    workloads.splice(0, 1, up('fetch', { url: 'http://127.0.0.1:9/sse', proxy_mode: 'sse' }))
    await clients.sync()
    expect(serversOf(await read('gemini-cli')).fetch).toEqual({ url: 'http://127.0.0.1:9/sse' })
  })

  test('a client that leaves gets its entries taken out, the rest of the file as it was', async () => {
    const { clients, workloads, read, write } = await desk()
    const before =
      '// mine\r\n{\r\n\t"mcpServers": {\r\n\t\t"own": {"url": "http://x"}, // keep\r\n\t},\r\n}\r\n'
    await write('cursor', `\ufeff${before}`)
    workloads.push(up('a'), up('b'))
    await clients.register(['cursor'])
    expect(await read('cursor')).toContain('"b": {\r\n')
    expect(await clients.remove(['cursor'])).toEqual([])
    expect(await read('cursor')).toBe(`\ufeff${before}`)
    expect(await clients.listRegistered()).toEqual([])
  })

  test('a client that leaves one of two groups keeps what the other has', async () => {
    const { clients, groups, workloads, read } = await desk()
    await groups.create('research')
    workloads.push(up('r', { group: 'research' }), up('d'))
    await clients.register(['cursor'], ['research', 'default'])
    await clients.remove(['cursor'], ['research'])
    expect(Object.keys(serversOf(await read('cursor')))).toEqual(['d'])
    expect(await clients.listRegistered()).toEqual([{ name: 'cursor', groups: ['default'] }])
  })

  test('nothing is written while no client is registered', async () => {
    const home = await temporaryFolder()
    const { clients, workloads } = deskAt(home)
    workloads.push(up('fetch'))
    await clients.sync()
    expect(await readdir(home)).toEqual([])
  })
})

describe('whose an entry is', () => {
  test('an entry of that name that we did not write is left alone and reported', async () => {
    const { clients, workloads, read, write } = await desk()
    const mine = '{"mcpServers": {"fetch": {"command": "mine"}}}'
    await write('cursor', mine)
    workloads.push(up('fetch'))
    const problems = await clients.register(['cursor'])
    expect(problems.map(codeOf)).toEqual(['client_entry_foreign'])
    expect(await read('cursor')).toBe(mine)
    await clients.remove(['cursor'])
    expect(await read('cursor')).toBe(mine)
  })

  test('an entry of ours that the user pointed elsewhere is theirs from then on', async () => {
    const { clients, workloads, read, write } = await desk()
    workloads.push(up('fetch'))
    await clients.register(['cursor'])
    const mine = (await read('cursor')).replace('127.0.0.1:4000', 'example.com')
    await write('cursor', mine)
    expect((await clients.sync()).map(codeOf)).toEqual(['client_entry_foreign'])
    workloads.pop()
    expect(await clients.sync()).toEqual([])
    expect(await read('cursor')).toBe(mine)
  })

  test('an entry that the user wrote just as we would is neither touched nor removed', async () => {
    const { clients, workloads, read, write } = await desk()
    const mine = '{"mcpServers":{"fetch":{"url":"http://127.0.0.1:4000/fetch"}}}'
    await write('cursor', mine)
    workloads.push(up('fetch'))
    expect(await clients.register(['cursor'])).toEqual([])
    await clients.remove(['cursor'])
    expect(await read('cursor')).toBe(mine)
  })

  test('an entry that the user deleted comes back with the next change', async () => {
    const { clients, workloads, read, write } = await desk()
    workloads.push(up('fetch'))
    await clients.register(['cursor'])
    await write('cursor', '{}')
    await clients.sync()
    expect(Object.keys(serversOf(await read('cursor')))).toEqual(['fetch'])
  })

  test('while a group cannot be read, no entry goes; once it can, those that should go do', async () => {
    const home = await temporaryFolder()
    const { clients, groups, workloads, read, logged } = deskAt(home)
    await groups.create('research')
    workloads.push(up('mine', { group: 'research' }), up('theirs'))
    await clients.register(['cursor'], ['research'])
    await clients.register(['kiro'])
    const path = join(home, 'state/groups/research.json')
    const text = await readFile(path, 'utf8')
    await writeFile(path, '{"name": ')
    workloads.splice(0, 2, up('new'))
    await clients.sync()
    expect(Object.keys(serversOf(await read('cursor')))).toEqual(['mine'])
    expect(Object.keys(serversOf(await read('kiro')))).toEqual(['theirs', 'new'])
    expect(logged.join()).toContain('research.json')
    await writeFile(path, text)
    await clients.sync()
    expect(serversOf(await read('cursor'))).toEqual({})
    expect(Object.keys(serversOf(await read('kiro')))).toEqual(['new'])
  })

  test('a memory that cannot be read is set aside with an error, and takes no entry with it', async () => {
    const home = await temporaryFolder()
    const { clients, workloads, read, logged } = deskAt(home)
    workloads.push(up('fetch'))
    await clients.register(['cursor'])
    const before = await read('cursor')
    await writeFile(join(home, 'state/clients/written.json'), '{"cursor": 1}')
    workloads.pop()
    await clients.sync()
    expect(await read('cursor')).toBe(before)
    expect(logged.join()).toContain('set aside')
    expect(await readdir(join(home, 'state/clients'))).toContain('written.json.corrupted')
  })
})

describe('files in other states', () => {
  test.each([
    ['cursor', '{"mcpServers": {\n  "a": }\n}', /line 2/],
    ['cursor', '[1]', /not an object/],
    ['cursor', '{"mcpServers": []}', /"mcpServers" is not an object/],
    ['cursor', '{"mcpServers": {}, "mcpServers": {}}', /twice/],
    ['goose', 'a: 1\na: 2\n', /line 2/],
    ['goose', '- 1\n', /not a mapping/],
    ['goose', 'extensions: *nowhere\n', /nowhere/],
    ['goose', 'a: 1\n---\nb: 2\n', /document/],
    ['codex', '[a]\nb = \n', /line 2/],
    ['codex', 'mcp_servers = 3\n', /not a table/],
    ['mistral-vibe', '[mcp_servers]\na = 1\n', /not a list/],
    ['cursor', '\xff\xfe', /UTF-8/],
  ])('of %s, %j is reported and left alone', async (client, text, problem) => {
    const { clients, workloads, write, fileOf } = await desk()
    const bytes = Buffer.from(text, 'latin1')
    await write(client, bytes)
    workloads.push(up('fetch'))
    const problems = await clients.register([client]).catch(error => [error as Error])
    expect(problems.map(codeOf)).toEqual(['client_file_invalid'])
    expect(problems[0]?.message).toMatch(problem)
    expect(problems[0]?.message).toContain(fileOf(client))
    expect(await readFile(fileOf(client))).toEqual(bytes)
    expect(await readdir(dirname(fileOf(client)))).toEqual([fileOf(client).split('/').at(-1)])
  })

  test('a file that does not parse refuses the registration, so that nothing is half done', async () => {
    const { clients, write } = await desk()
    await write('cursor', '{')
    expect(await failureOf(clients.register(['kiro', 'cursor']))).toBe('client_file_invalid')
    expect(await clients.listRegistered()).toEqual([])
  })

  test('so does one that parses, but has something else where the servers should be', async () => {
    const { clients, write } = await desk()
    await write('continue', 'mcpServers: {a: 1}\n')
    expect(await failureOf(clients.register(['continue']))).toBe('client_file_invalid')
    expect(await clients.listRegistered()).toEqual([])
  })

  test('a file that breaks later shows in the status and stops no other client', async () => {
    const { clients, workloads, read, write } = await desk()
    await clients.register(['cursor', 'kiro'])
    await write('cursor', '{ oops')
    workloads.push(up('fetch'))
    expect((await clients.sync()).map(codeOf)).toEqual(['client_file_invalid'])
    expect(Object.keys(serversOf(await read('kiro')))).toEqual(['fetch'])
    const status = (await clients.status()).find(({ client_type }) => client_type === 'cursor')
    expect(status).toMatchObject({ registered: true, problem: expect.stringContaining('line 1') })
  })

  test('a file keeps its mode, and a new one is private', async () => {
    const { clients, workloads, write, fileOf } = await desk()
    await write('cursor', '{}')
    await chmod(fileOf('cursor'), 0o664)
    workloads.push(up('fetch'))
    await clients.register(['cursor', 'kiro'])
    expect((await stat(fileOf('cursor'))).mode & 0o777).toBe(0o664)
    expect((await stat(fileOf('kiro'))).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(fileOf('kiro')))).mode & 0o777).toBe(0o700)
  })

  test.each([true, false])(
    'a symbolic link stays one, and what it leads to is written (there: %s)',
    async there => {
      const home = await temporaryFolder()
      const { clients, workloads, fileOf } = deskAt(home)
      const real = join(home, 'dotfiles/cursor.json')
      await mkdir(dirname(real))
      if (there) await writeFile(real, '{"theme": 1}')
      await mkdir(dirname(fileOf('cursor')))
      await symlink('../dotfiles/cursor.json', fileOf('cursor'))
      workloads.push(up('fetch'))
      expect(await clients.register(['cursor'])).toEqual([])
      expect((await lstat(fileOf('cursor'))).isSymbolicLink()).toBe(true)
      expect(JSON.parse(await readFile(real, 'utf8'))).toMatchObject({ mcpServers: { fetch: {} } })
    },
  )

  test('the copy from before the first change stays as it is', async () => {
    const { clients, workloads, write, fileOf } = await desk()
    await write('cursor', '{"theme": 1}')
    workloads.push(up('fetch'))
    await clients.register(['cursor'])
    workloads.push(up('other'))
    await clients.sync()
    expect(await readFile(`${fileOf('cursor')}.keelson-backup`, 'utf8')).toBe('{"theme": 1}')
  })

  test('a file that we made needs no copy', async () => {
    const { clients, workloads, fileOf } = await desk()
    workloads.push(up('fetch'))
    await clients.register(['cursor', 'goose', 'codex', 'continue', 'mistral-vibe'])
    workloads.push(up('other'))
    await clients.sync()
    await clients.remove(['cursor', 'goose', 'codex', 'continue', 'mistral-vibe'])
    expect(await readdir(dirname(fileOf('cursor')))).toEqual(['mcp.json'])
    expect(await readdir(dirname(fileOf('goose')))).toEqual(['config.yaml'])
    expect(await readFile(fileOf('codex'), 'utf8')).toBe('')
  })

  test('a file that cannot be read is a failure that names it', async () => {
    const { clients, fileOf } = await desk()
    await mkdir(fileOf('cursor'), { recursive: true })
    expect(await failureOf(clients.register(['cursor']))).toBe('client_file_failed')
  })
})

describe('who can be registered', () => {
  test('an unknown client is refused with the near one, before anything is changed', async () => {
    const { clients } = await desk()
    const error = await clients.register(['kiro', 'cursr']).catch(it => it)
    expect(error).toMatchObject({
      code: 'client_unknown',
      message: expect.stringContaining('Did you mean cursor?'),
    })
    expect(error.hint).toMatch(/^Clients: amp-cli, antigravity, .*, zed\.$/)
    expect(await clients.listRegistered()).toEqual([])
  })

  test.each(['xcode', 'constructor', ''])('%j is not a client', async id => {
    const { clients } = await desk()
    expect(await failureOf(clients.register([id]))).toBe('client_unknown')
    expect(await failureOf(clients.remove([id]))).toBe('client_unknown')
  })

  test('an unknown group is refused before any other gets the client', async () => {
    const { clients } = await desk()
    expect(await failureOf(clients.register(['cursor'], ['default', 'nowhere']))).toBe('group_unknown')
    expect(await clients.listRegistered()).toEqual([])
  })

  test('registering again changes nothing', async () => {
    const { clients, workloads, read } = await desk()
    workloads.push(up('fetch'))
    await clients.register(['cursor'])
    const before = await read('cursor')
    await clients.register(['cursor', 'cursor'])
    expect(await read('cursor')).toBe(before)
    expect(await clients.listRegistered()).toEqual([{ name: 'cursor', groups: ['default'] }])
  })

  test('a client that this version does not know can be removed', async () => {
    const { clients, groups } = await desk()
    await groups.addClient('default', 'of-the-future')
    expect(await clients.listRegistered()).toEqual([{ name: 'of-the-future', groups: ['default'] }])
    expect(await clients.sync()).toEqual([])
    await clients.remove(['of-the-future'])
    expect(await clients.listRegistered()).toEqual([])
  })

  test('removing what is not registered is fine', async () => {
    const { clients } = await desk()
    expect(await clients.remove(['cursor'])).toEqual([])
  })
})
