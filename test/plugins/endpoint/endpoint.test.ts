import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { clientV1, clientV2, textOf } from '../../e2e/clients.ts'
import { type Home, openHome } from '../../e2e/home.ts'
import { startZoo, type Zoo } from './zoo.ts'

let home: Home
let zoo: Zoo
let url: string

beforeAll(async () => {
  home = await openHome()
  zoo = await startZoo()
  for (const [name, at] of Object.entries(zoo.urls)) await home.ok(['run', at, '--name', name])
  url = (await home.ok(['endpoint', 'create', 'all', '--group', 'default'])).trim()
})
afterAll(async () => {
  await home?.closeRemote()
  await zoo?.close()
})

const names = (items: readonly { name: string }[]) => items.map(({ name }) => name).sort()

describe('What clients see', () => {
  test.each([
    ['everything', clientV1],
    ['asking', clientV1],
    ['modern', clientV2],
  ])('of %s differs only in names and URIs', async (server, connect) => {
    const direct = await connect(zoo.urls[server] ?? '')
    const through = await connect(url)
    const { tools } = await direct.listTools()
    expect(tools.length).toBeGreaterThan(0)
    const found = (await through.listTools()).tools.filter(({ name }) => name.startsWith(`${server}_`))
    expect(found.map(tool => ({ ...tool, name: tool.name.slice(server.length + 1) }))).toEqual(tools)
  })

  test('resources can be read under the URIs of the list, and links lead to them', async () => {
    const client = await clientV1(url)
    const { resources } = await client.listResources()
    const one = resources.find(({ name }) => name === 'features.md')
    expect(one?.uri).toBe('mcp+everything+demo://resource/static/document/features.md')
    const { contents } = await client.readResource({ uri: one?.uri ?? '' })
    expect(contents[0]?.uri).toBe(one?.uri)

    const result = await client.callTool({ name: 'everything_get-resource-links', arguments: { count: 1 } })
    const link = (result.content as { type: string; uri?: string }[]).find(
      ({ type }) => type === 'resource_link',
    )
    const linked = await client.readResource({ uri: link?.uri ?? '' })
    expect(linked.contents[0]?.uri).toBe(link?.uri)
  })

  test('prompts and completions reach their server', async () => {
    const client = await clientV1(url)
    const { messages } = await client.getPrompt({
      name: 'everything_args-prompt',
      arguments: { city: 'Bonn' },
    })
    expect(JSON.stringify(messages)).toContain('Bonn')
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'everything_completable-prompt' },
      argument: { name: 'department', value: 'E' },
    })
    expect(completion.values).toContain('Engineering')
  })

  test('the instructions of each server stand under its name', async () => {
    const client = await clientV1(url)
    expect(client.getInstructions()).toContain('# everything\n')
  })

  test.each([
    ['tools/call', { name: 'everything_nosuch' }, /Unknown tool/],
    ['tools/call', { name: 'echo' }, /Unknown tool/],
    ['prompts/get', { name: 'nosuch' }, /Unknown prompt/],
    ['resources/read', { uri: 'file:///etc/passwd' }, /Resource not found/],
    ['resources/read', { uri: 'mcp+nosuch+file:///etc/passwd' }, /Resource not found/],
  ])('%s of what no server has is an error: %o', async (method, params, problem) => {
    const client = await clientV1(url)
    const { ResultSchema } = await import('@modelcontextprotocol/sdk/types.js')
    await expect(client.request({ method, params } as never, ResultSchema)).rejects.toThrow(problem)
  })
})

describe('What servers ask', () => {
  const able = (client: Client) => {
    client.registerCapabilities({ sampling: {}, elicitation: {}, roots: { listChanged: true } })
    client.setRequestHandler(CreateMessageRequestSchema, async () => ({
      model: 'm',
      role: 'assistant',
      content: { type: 'text', text: 'a sample' },
    }))
    client.setRequestHandler(ElicitRequestSchema, async () => ({
      action: 'accept',
      content: { name: 'Ada' },
    }))
    client.setRequestHandler(ListRootsRequestSchema, async () => ({
      roots: [{ uri: 'file:///here', name: 'here' }],
    }))
  }

  test('sampling, elicitation and roots go to the client that called', async () => {
    const client = await clientV1(url, able)
    const plain = await clientV1(url)
    expect(textOf(await client.callTool({ name: 'asking_elicit' }))).toContain('Ada')
    expect(textOf(await client.callTool({ name: 'asking_sample' }))).toContain('a sample')
    expect(textOf(await client.callTool({ name: 'asking_roots' }))).toContain('file:///here')
    // The server knows what this one cannot do.
    expect((await plain.callTool({ name: 'asking_elicit' })).isError).toBe(true)
  })

  test('a client of 2026-07-28 is asked by rounds', async () => {
    const client = new ClientV2(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept' as const,
      content: { name: 'Grace' },
    }))
    // Clients of this revision share a session, whose servers are told what the first of them can do.
    const own = (await home.ok(['endpoint', 'create', 'rounds', '--server', 'asking'])).trim()
    onTestFinished(async () => void (await home.ok(['rm', 'rounds'])))
    await client.connect(new HttpV2(new URL(own)))
    onTestFinished(() => client.close())
    expect(textOf(await client.callTool({ name: 'asking_elicit', arguments: {} }))).toContain('Grace')
  })

  test('twenty clients that are asked at the same time get their own answers', async () => {
    const clients = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        clientV1(url, client => {
          client.registerCapabilities({ elicitation: {} })
          client.setRequestHandler(ElicitRequestSchema, async () => ({
            action: 'accept',
            content: { name: `client ${index}` },
          }))
        }),
      ),
    )
    const results = await Promise.all(clients.map(client => client.callTool({ name: 'asking_elicit' })))
    expect(results.map(textOf)).toEqual(clients.map((_, index) => expect.stringContaining(`client ${index}`)))
  })

  test('progress reaches the client', async () => {
    const client = await clientV1(url)
    const seen: number[] = []
    await client.callTool(
      { name: 'everything_trigger-long-running-operation', arguments: { duration: 1, steps: 3 } },
      undefined,
      { onprogress: ({ progress }) => seen.push(progress) },
    )
    expect(seen).toEqual([1, 2, 3])
  })

  test('a cancelled call is cancelled at its server', async () => {
    const client = await clientV1(url)
    const abort = new AbortController()
    const call = client.callTool({ name: 'asking_wait' }, undefined, { signal: abort.signal })
    await expect.poll(() => zoo.waiting).toBe(1)
    abort.abort()
    await expect(call).rejects.toThrow()
    await expect.poll(() => zoo.waiting).toBe(0)
  })
})

describe('Servers that come and go', () => {
  test('a new one appears, and one that is stopped keeps its tools for a while with a clear error', async () => {
    const client = await clientV1(url)
    let changes = 0
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changes += 1
    })
    expect(names((await client.listTools()).tools)).not.toContain('late_now')

    await home.ok(['run', zoo.urls.modern ?? '', '--name', 'late'])
    await expect.poll(() => changes).toBeGreaterThan(0)
    await expect.poll(async () => names((await client.listTools()).tools)).toContain('late_now')
    expect(textOf(await client.callTool({ name: 'late_now' }))).toContain('modern')

    await home.ok(['stop', 'late'])
    await expect
      .poll(() => client.callTool({ name: 'late_now' }).then(() => 'called', String))
      .toContain('The server "late" is stopped')
    expect(names((await client.listTools()).tools)).toContain('late_now')

    await home.ok(['start', 'late'])
    await expect.poll(async () => textOf(await client.callTool({ name: 'late_now' }))).toContain('modern')
    await home.ok(['rm', 'late'])
    await expect.poll(async () => names((await client.listTools()).tools)).not.toContain('late_now')
  })

  test('one that does not respond delays a list for a while, and no call of the others', {
    timeout: 60_000,
  }, async () => {
    const client = await clientV1(url)
    await client.listTools()
    zoo.hang(true)
    try {
      // What servers have told another client with the same capabilities is known already.
      const fresh = await clientV1(url, client =>
        client.registerCapabilities({ experimental: { [crypto.randomUUID()]: {} } }),
      )
      const { tools } = await fresh.listTools()
      expect(names(tools)).toContain('everything_echo')
      expect(
        textOf(await fresh.callTool({ name: 'everything_echo', arguments: { message: 'on' } })),
      ).toContain('on')
      const call = fresh.callTool({ name: 'everything_echo', arguments: { message: 'on' } })
      const list = fresh.listTools()
      expect(await Promise.race([call.then(() => 'the call'), list.then(() => 'the list')])).toBe('the call')
      await list
    } finally {
      zoo.hang(false)
    }
  })

  test('a tool that is new at a server is announced', async () => {
    const client = await clientV1(url)
    let changes = 0
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changes += 1
    })
    await client.listTools()
    await client.callTool({ name: 'asking_add', arguments: {} })
    await expect.poll(() => changes).toBeGreaterThan(0)
    await expect.poll(async () => names((await client.listTools()).tools)).toContain('asking_added')
  })

  test('a tool that is new in the session of one client is not shown to another', async () => {
    const [one, other] = await Promise.all([clientV1(url), clientV1(url)])
    await Promise.all([one.listTools(), other.listTools()])
    await one.callTool({ name: 'asking_add', arguments: {} })
    await expect.poll(async () => names((await one.listTools()).tools)).toContain('asking_added')
    const later = await clientV1(url)
    for (const client of [other, later])
      expect(names((await client.listTools()).tools)).not.toContain('asking_added')
  })
})

describe('The endpoint itself', () => {
  test('is a workload: it is listed, stopped, started and exported', async () => {
    const listed = JSON.parse(await home.ok(['endpoint', 'list', '--format', 'json']))
    expect(listed).toMatchObject([{ name: 'all', status: 'running', group: 'default', naming: 'prefix' }])
    expect(await home.ok(['endpoint', 'status', 'all'])).toMatch(/everything\s+running/)
    expect(await home.ok(['status', 'all'])).not.toContain('Isolation')
    await home.ok(['stop', 'all'])
    await home.ok(['start', 'all'])
    const client = await clientV1(url)
    expect(names((await client.listTools()).tools)).toContain('everything_echo')
  })

  test('tools of servers are filtered as those of any workload', async () => {
    await home.ok(['endpoint', 'create', 'few', '--server', 'everything', '--naming', 'plain'])
    await home.ok(['edit', 'few', '--tools', 'echo'])
    const few = JSON.parse(await home.ok(['endpoint', 'list', '--format', 'json'])).find(
      ({ name }: { name: string }) => name === 'few',
    )
    const client = await clientV1(few.url)
    expect(names((await client.listTools()).tools)).toEqual(['echo'])
    await home.ok(['rm', 'few'])
  })

  test('the origin of a tool is explained, and why it is hidden', async () => {
    onTestFinished(async () => void (await home.keelson(['rm', 'odd', 'second'])))
    const explain = async (tool: string) => {
      const shown = await home.ok(['endpoint', 'explain', 'odd', tool, '--format', 'json'])
      return JSON.parse(shown) as { server: string; problem?: string }[]
    }
    await home.ok(['run', zoo.urls.everything ?? '', '--name', 'second'])
    const servers = ['everything', 'second'].flatMap(name => ['--server', name])
    await home.ok(['endpoint', 'create', 'odd', ...servers, '--naming', 'plain'])
    await home.ok(['edit', 'odd', '--tools', 'echo'])
    const [first, second] = await explain('echo')
    expect(first).toMatchObject({ name: 'echo', server: 'everything', tool: 'echo' })
    expect(first?.problem).toBeUndefined()
    expect(second?.problem).toBe('the server "everything" has a tool of this name, and comes first')
    const states = JSON.parse(await home.ok(['endpoint', 'status', 'odd', '--format', 'json']))
    expect(states.map(({ name }: { name: string }) => name)).toEqual(['everything', 'second'])
    expect(states[0]).toMatchObject({ status: 'running', clashes: [] })
    expect(states[1].tools).toBe(states[0].tools)
    expect(states[1].clashes).toContain('echo')
    expect((await explain('get-sum'))[0]?.problem).toContain('the endpoint hides or renames it')
    await home.ok(['stop', 'second'])
    expect((await explain('echo')).at(-1)?.problem).toBe('the server is stopped')
  })

  test('the file of a vMCP is imported', async () => {
    onTestFinished(async () => void (await home.keelson(['rm', 'taken'])))
    const file = join(home.path, 'vmcp.yaml')
    const write = (server: string) =>
      writeFile(
        file,
        JSON.stringify({ name: 'taken', backends: [{ name: server }], codeMode: { enabled: true } }),
      )
    await write('nosuch')
    expect((await home.keelson(['endpoint', 'validate', file])).stderr).toContain('nosuch')
    await write('everything')
    expect(await home.ok(['endpoint', 'validate', file])).toContain('left behind: codeMode')
    const shown = await home.ok(['endpoint', 'import', file, '--yes'])
    const client = await clientV1(shown.trim().split('\n').at(-1) ?? '')
    expect(names((await client.listTools()).tools)).toContain('everything_echo')
  })

  test('settings are changed, and others stay', async () => {
    onTestFinished(async () => void (await home.keelson(['rm', 'changed'])))
    await home.ok(['endpoint', 'create', 'changed', '--server', 'everything', '--call-timeout', '30s'])
    await home.ok(['endpoint', 'edit', 'changed', '--naming', 'plain', '--server', 'asking'])
    const listed = JSON.parse(await home.ok(['endpoint', 'list', '--format', 'json']))
    const changed = listed.find(({ name }: { name: string }) => name === 'changed')
    expect(changed).toMatchObject({ naming: 'plain', servers: ['asking'], call_timeout: 30 })
    const client = await clientV1(changed.url)
    expect(names((await client.listTools()).tools)).toContain('elicit')
  })

  test('client applications get one URL in place of those of its servers', async () => {
    onTestFinished(async () => void (await home.keelson(['rm', 'one-url', 'at-desk'])))
    const entries = async () => {
      const text = await readFile(join(home.path, '.cursor', 'mcp.json'), 'utf8').catch(() => '{}')
      return Object.keys(JSON.parse(text).mcpServers ?? {})
    }
    await home.keelson(['group', 'create', 'desk'])
    await home.ok(['run', zoo.urls.modern ?? '', '--name', 'at-desk', '--group', 'desk'])
    await home.ok(['client', 'register', 'cursor', '--group', 'desk'])
    await expect.poll(entries).toEqual(['at-desk'])
    await home.ok(['endpoint', 'create', 'one-url', '--group', 'desk', '--for-clients'])
    await expect.poll(entries).toEqual(['one-url'])
    await home.ok(['stop', 'one-url'])
    await expect.poll(entries).toEqual(['at-desk'])
  })

  test.each([
    [['endpoint', 'explain', 'all', 'nosuch'], 1, 'No server of "all" lists a tool "nosuch".'],
    [['endpoint', 'edit', 'all'], 2, 'What is to be changed?'],
    [['endpoint', 'edit', 'everything', '--naming', 'plain'], 1, 'not an endpoint'],
    [['endpoint', 'create', 'x'], 2, 'Which servers are behind the endpoint?'],
    [['endpoint', 'create', 'x', '--group', 'nosuch'], 1, 'nosuch'],
    [['endpoint', 'create', 'x', '--server', 'nosuch'], 1, 'nosuch'],
    [['endpoint', 'create', 'x', '--server', 'all'], 2, '"all" is an endpoint itself'],
    [['endpoint', 'status', 'everything'], 1, '"everything" is a workload, not an endpoint.'],
    [['run', 'x', '--runtime', 'endpoint'], 1, 'The endpoint runtime cannot run the image x'],
  ])('%j is refused', async (args, code, text) => {
    const shown = await home.keelson(args)
    expect(shown.stderr).toContain(text)
    expect(shown.code).toBe(code)
  })
})
