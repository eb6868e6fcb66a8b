import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { clientV1, clientV2, textOf } from '../../../e2e/clients.ts'
import { type Home, openHome } from '../../../e2e/home.ts'
import { startZoo, type Zoo } from '../zoo.ts'

/** As ToolHive's files have them; `asking.wait` is a tool by its server, `everything_echo` by the name that clients see. */
const FILE = `
name: team-vmcp
groupRef: default
compositeTools:
  - name: echo_sum
    description: Adds two numbers, and echoes the sum
    parameters:
      type: object
      properties: { a: { type: number }, b: { type: number } }
      required: [a, b]
    steps:
      - id: sum
        tool: everything.get-sum
        arguments: { a: "{{.params.a}}", b: "{{.params.b}}" }
      - id: echo
        tool: everything_echo
        dependsOn: [sum]
        arguments: { message: "{{.steps.sum.output.text}}" }
    output:
      properties:
        said: { type: string, description: What was said, value: "{{.steps.echo.output.text}}" }
      required: [said]
  - name: careful_echo
    description: Asks before it echoes
    parameters: { type: object, properties: { message: { type: string } } }
    steps:
      - id: ask
        type: elicitation
        message: "Really echo {{quote .params.message}}?"
        schema: { type: object, properties: { loud: { type: boolean } } }
      - id: echo
        tool: everything_echo
        dependsOn: [ask]
        arguments: { message: "{{if .steps.ask.output.content.loud}}!{{end}}{{.params.message}}" }
  - name: waits
    description: Waits for ever
    steps: [{ id: wait, tool: asking_wait }]
  - name: everything_get-env
    description: Has the name of a tool of a server
    steps: [{ id: echo, tool: everything_echo, arguments: { message: mine } }]
  - name: calls_itself
    description: Cannot be
    steps: [{ id: again, tool: calls_itself }]
`

let home: Home
let zoo: Zoo
let url: string

beforeAll(async () => {
  home = await openHome()
  zoo = await startZoo()
  for (const name of ['everything', 'asking']) await home.ok(['run', zoo.urls[name] ?? '', '--name', name])
  await writeFile(join(home.path, 'tools.yaml'), FILE)
  url = (
    await home.ok([
      'endpoint',
      'create',
      'all',
      '--group',
      'default',
      '--composite-tools',
      join(home.path, 'tools.yaml'),
    ])
  ).trim()
})
afterAll(async () => {
  await home?.closeRemote()
  await zoo?.close()
})

const errorOf = (result: Awaited<ReturnType<Client['callTool']>>) =>
  result.isError ? textOf(result) : 'no error'

test.each([
  ['2025-11-25', clientV1],
  ['2026-07-28', clientV2],
])('a client of %s calls a composite tool as any other', async (_, connect) => {
  const client = await connect(url)
  const { tools } = await client.listTools()
  expect(tools.find(({ name }) => name === 'echo_sum')).toMatchObject({
    description: 'Adds two numbers, and echoes the sum',
    inputSchema: { required: ['a', 'b'] },
    outputSchema: { properties: { said: { type: 'string' } }, required: ['said'] },
  })
  const result = await client.callTool({ name: 'echo_sum', arguments: { a: 2, b: 3 } })
  expect(result.structuredContent).toEqual({ said: 'Echo: The sum of 2 and 3 is 5.' })
})

test('progress tells which steps are done', async () => {
  const client = await clientV1(url)
  const told: unknown[] = []
  await client.callTool({ name: 'echo_sum', arguments: { a: 2, b: 3 } }, undefined, {
    onprogress: progress => told.push(progress),
  })
  expect(told).toEqual([
    { progress: 1, total: 2, message: 'sum: completed' },
    { progress: 2, total: 2, message: 'echo: completed' },
  ])
})

test.each([
  [{ action: 'accept', content: { loud: true } } as const, 'Echo: !hello'],
  [{ action: 'decline' } as const, 'The tool "careful_echo" failed: step "ask": it was declined'],
])('a step asks the person at the client, who answers %j', async (answer, text) => {
  const client = await clientV1(url, one => one.registerCapabilities({ elicitation: {} }))
  const asked: unknown[] = []
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    return answer
  })
  const result = await client.callTool({ name: 'careful_echo', arguments: { message: 'hello' } })
  expect(asked).toEqual(['Really echo "hello"?'])
  expect(textOf(result)).toContain(text)
})

test('a client that cannot ask anybody is told so', async () => {
  const client = await clientV1(url)
  const result = await client.callTool({ name: 'careful_echo', arguments: { message: 'hello' } })
  expect(errorOf(result)).toContain('step "ask": the client has no way to ask a person (elicitation)')
})

test('a call that is cancelled cancels the call of its step', async () => {
  const client = await clientV1(url)
  const cancel = new AbortController()
  const call = client.callTool({ name: 'waits' }, undefined, { signal: cancel.signal })
  await expect.poll(() => zoo.waiting, { timeout: 20_000 }).toBe(1)
  cancel.abort()
  await expect(call).rejects.toThrow()
  await expect.poll(() => zoo.waiting, { timeout: 20_000 }).toBe(0)
})

test('a server cannot take the name of a composite tool, and none calls itself', async () => {
  const client = await clientV1(url)
  const { tools } = await client.listTools()
  expect(tools.filter(({ name }) => name === 'everything_get-env')).toEqual([
    expect.objectContaining({ description: 'Has the name of a tool of a server' }),
  ])
  expect(textOf(await client.callTool({ name: 'everything_get-env' }))).toContain('mine')
  const result = await client.callTool({ name: 'calls_itself' })
  expect(errorOf(result)).toContain('Unknown tool: calls_itself')
})

test('steps are judged and recorded as calls of the client are', { timeout: 120_000 }, async () => {
  const policies = [
    'forbid(principal, action, resource == Tool::"everything_echo");',
    'permit(principal, action, resource);',
  ]
  const authz = { version: '1.0', type: 'cedarv1', cedar: { policies } }
  const policiesFile = join(home.path, 'policies.json')
  await writeFile(policiesFile, JSON.stringify(authz))
  const create = [
    'endpoint',
    'create',
    'judged',
    '--group',
    'default',
    '--composite-tools',
    join(home.path, 'tools.yaml'),
  ]
  const judged = (await home.ok(create)).trim()
  onTestFinished(async () => void (await home.ok(['rm', 'judged'])))
  await home.ok(['edit', 'judged', '--authz-config', policiesFile, '--enable-audit'])
  const client = await clientV1(judged)
  const result = await client.callTool({ name: 'echo_sum', arguments: { a: 2, b: 3 } })
  expect(errorOf(result)).toContain('The tool "echo_sum" failed: step "echo": Unauthorized')
  const log = join(home.path, '.local', 'share', 'keelson', 'audit', 'judged.jsonl')
  const outcomes = async () =>
    (await readFile(log, 'utf8'))
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
      .filter(({ target }) => target.method === 'tools/call')
      .map(({ target, outcome }) => `${target.name} ${outcome}`)
      .sort()
  await expect
    .poll(outcomes, { timeout: 20_000 })
    .toEqual(['echo_sum application_error', 'everything_echo denied', 'everything_get-sum success'])
})

test('composite tools can be found, and their steps called, where tools are searched for', async () => {
  const create = ['endpoint', 'create', 'searched', '--group', 'default', '--tool-mode', 'search']
  const searched = (await home.ok([...create, '--composite-tools', join(home.path, 'tools.yaml')])).trim()
  onTestFinished(async () => void (await home.ok(['rm', 'searched'])))
  const client = await clientV1(searched)
  const found = await client.callTool({ name: 'find_tools', arguments: { query: 'adds two numbers echo' } })
  expect(textOf(found)).toContain('echo_sum')
  const call = { name: 'call_tool', arguments: { name: 'echo_sum', arguments: { a: 2, b: 3 } } }
  expect(await client.callTool(call)).toMatchObject({
    structuredContent: { said: 'Echo: The sum of 2 and 3 is 5.' },
  })
})

test.each([
  ['steps: []', 'name'],
  ['name: a\ndescription: d\nsteps: []', '"a": it has no steps'],
  ['{', 'cannot be used'],
])('a file that cannot be used is refused: %j', async (text, problem) => {
  await writeFile(join(home.path, 'wrong.yaml'), text)
  const { code, stderr } = await home.keelson(
    ['endpoint', 'edit', 'all', '--composite-tools', 'wrong.yaml'],
    { cwd: home.path },
  )
  expect(stderr).toContain(problem)
  expect(code).toBe(2)
})

test('a file with an empty list removes the composite tools', { timeout: 120_000 }, async () => {
  const files = ['tools.yaml', 'none.yaml'].map(name => join(home.path, name))
  await writeFile(files[1] ?? '', '[]')
  const create = ['endpoint', 'create', 'emptied', '--group', 'default', '--composite-tools', files[0] ?? '']
  const emptied = (await home.ok(create)).trim()
  onTestFinished(async () => void (await home.ok(['rm', 'emptied'])))
  const names = async () => (await (await clientV1(emptied)).listTools()).tools.map(({ name }) => name)
  expect(await names()).toContain('echo_sum')
  await home.ok(['endpoint', 'edit', 'emptied', '--composite-tools', files[1] ?? ''])
  expect(await names()).not.toContain('echo_sum')
})
