import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientV1, clientV2, textOf } from './clients.ts'
import { type Home, openHome } from './home.ts'
import { flagsOf, needsPlace, PLACES } from './places-to-run.ts'
import { shareToolCaches } from './tool-caches.ts'

// Official servers and official clients, with the real program between them. The versions are exact so
// that each engine builds every image once, and the same as the development dependencies.
const VERSION = '2026.8.31'
const PACKAGE = (name: string) => `npx://@modelcontextprotocol/server-${name}@${VERSION}`

let home: Home
beforeAll(async () => {
  home = await openHome()
  await shareToolCaches(home)
})
afterAll(() => home.close(), 120_000)

describe.each(PLACES)('on %s', { timeout: 600_000 }, place => {
  const name = `e2e-everything-${place}`
  const run = (server: string, workload: string, ...more: string[]) =>
    home.ok(['run', PACKAGE(server), '--name', workload, ...flagsOf(place), ...more])
  const urlOf = async (workload: string) =>
    (
      JSON.parse(await home.ok(['list', '--format', 'mcpservers'])) as {
        mcpServers: Record<string, { url: string }>
      }
    ).mcpServers[workload]?.url ?? ''

  test('server-everything comes up at the URL that run prints and list repeats', async context => {
    needsPlace(context, place)
    const url = await run('everything', name)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    expect(await urlOf(name)).toBe(url)
  })

  test('SDK v1: tools, resources, prompts, progress and logging', async context => {
    needsPlace(context, place)
    let logged = () => {}
    const aLogMessage = new Promise<void>(resolve => {
      logged = resolve
    })
    const client = await clientV1(await urlOf(name), it =>
      it.setNotificationHandler(LoggingMessageNotificationSchema, () => logged()),
    )
    expect(client.getServerVersion()?.name).toContain('everything')
    expect((await client.listTools()).tools.map(tool => tool.name)).toContain('echo')
    expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'größer → 🙂' } }))).toContain(
      'größer → 🙂',
    )
    const { resources } = await client.listResources()
    expect(resources.length).toBeGreaterThan(0)
    const read = await client.readResource({ uri: resources[0]?.uri ?? '' })
    expect(read.contents[0]?.uri).toBe(resources[0]?.uri)
    const { prompts } = await client.listPrompts()
    expect((await client.getPrompt({ name: prompts[0]?.name ?? '' })).messages.length).toBeGreaterThan(0)

    const seen: number[] = []
    await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 4 } },
      undefined,
      { onprogress: ({ progress }) => seen.push(progress) },
    )
    expect(seen.slice(0, 3)).toEqual([1, 2, 3]) // the SDK drops one that arrives together with the answer

    await client.setLoggingLevel('debug')
    await client.callTool({ name: 'toggle-simulated-logging', arguments: {} })
    await aLogMessage
  })

  test('SDK v2: tools, resources and prompts', async context => {
    needsPlace(context, place)
    const client = await clientV2(await urlOf(name))
    expect((await client.listTools()).tools.map(tool => tool.name)).toContain('echo')
    expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'hi' } }))).toContain('hi')
    const { resources } = await client.listResources()
    expect((await client.readResource({ uri: resources[0]?.uri ?? '' })).contents).toHaveLength(1)
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0)
  })

  test('an export run again is the same workload: same URL, same tools', async context => {
    needsPlace(context, place)
    const url = await urlOf(name)
    const tools = (await (await clientV1(url)).listTools()).tools
    const file = join(home.path, `${place}.json`)
    await home.ok(['export', name, file])
    await home.ok(['rm', name])
    await expect(fetch(url)).rejects.toThrow()

    expect(await home.ok(['run', '--from-config', file])).toBe(url)
    expect((await (await clientV1(url)).listTools()).tools).toEqual(tools)
    await home.ok(['export', name, `${file}.again`])
    expect(await readFile(`${file}.again`, 'utf8')).toBe(await readFile(file, 'utf8'))
  })

  test('a stopped workload does not respond, a started one does at the same URL', async context => {
    needsPlace(context, place)
    const url = await urlOf(name)
    await home.ok(['stop', name])
    await expect(fetch(url)).rejects.toThrow()
    expect(await home.ok(['list'])).not.toContain(name)
    await home.ok(['start', name])
    expect((await (await clientV1(url)).listTools()).tools.length).toBeGreaterThan(0)
  })

  test('server-everything that speaks HTTP itself', async context => {
    needsPlace(context, place)
    const web = `${name}-web`
    const port = '3987'
    const url = await run(
      'everything',
      web,
      '--transport',
      'streamable-http',
      '--target-port',
      port,
      '-e',
      `PORT=${port}`,
      '--',
      'streamableHttp',
    )
    const client = await clientV1(url)
    expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'direct' } }))).toContain(
      'direct',
    )
    await home.ok(['rm', web])
  })

  test('server-memory returns an entity that was stored before', async context => {
    needsPlace(context, place)
    const memory = `e2e-memory-${place}`
    // Its own default is beside its code, which the sandbox of the process runtime lets nobody write.
    const url = await run('memory', memory, '-e', 'MEMORY_FILE_PATH=/tmp/memory.jsonl')
    const entities = [{ name: 'keel', entityType: 'timber', observations: ['runs along the bottom'] }]
    await (await clientV1(url)).callTool({ name: 'create_entities', arguments: { entities } })
    const found = await (await clientV2(url)).callTool({ name: 'search_nodes', arguments: { query: 'keel' } })
    expect(textOf(found)).toContain('runs along the bottom')
    await home.ok(['rm', memory])
  })

  test('server-filesystem sees the folder it was given, and writes only where it may', async context => {
    needsPlace(context, place)
    const files = `e2e-files-${place}`
    const [open, closed] = [join(home.path, `${place}-open`), join(home.path, `${place}-closed`)]
    for (const folder of [open, closed]) {
      await mkdir(folder)
      await writeFile(join(folder, 'note.txt'), 'ahoy')
      await chmod(folder, 0o777) // the server in a container is another user than the one who runs this
    }
    const url = await run(
      'filesystem',
      files,
      '-v',
      `${open}:/open`,
      '-v',
      `${closed}:/closed:ro`,
      '--',
      '/open',
      '/closed',
    )
    const client = await clientV1(url)
    const call = async (tool: string, args: Record<string, unknown>) =>
      client.callTool({ name: tool, arguments: args })
    expect(textOf(await call('read_text_file', { path: '/closed/note.txt' }))).toBe('ahoy')
    await call('write_file', { path: '/open/new.txt', content: 'written' })
    expect(await readFile(join(open, 'new.txt'), 'utf8')).toBe('written')
    const refused = await call('write_file', { path: '/closed/new.txt', content: 'written' })
    expect(refused.isError).toBe(true)
    expect(textOf(refused)).toMatch(/read-only file system/i)
    await expect(readFile(join(closed, 'new.txt'))).rejects.toThrow('ENOENT')
    await home.ok(['rm', files])
  })
})
