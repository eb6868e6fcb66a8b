import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { startStatelessServer } from '../proxy/stateless-http/stateless-server.ts'
import { everything, modernServer, scripted, serve } from './servers.ts'

const mcp = async (...args: string[]) => (await keelsonUser()).run(['mcp', ...args])

describe.each(['streamableHttp', 'sse'] as const)('with server-everything over %s', mode => {
  test('list prints all three categories', async () => {
    const { code, stdout, stderr } = await mcp('list', '--server', await everything(mode))

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^TOOLS\nNAME\s+DESCRIPTION\necho\s+Echoes back/)
    expect(stdout).toMatch(/\n\nRESOURCES\nNAME\s+URI\s+DESCRIPTION\s+MIME TYPE\n/)
    expect(stdout).toMatch(/\n\nPROMPTS\nNAME\s+DESCRIPTION\s+ARGUMENTS\n/)
    expect(stdout).toMatch(/args-prompt .* city, \[state\]/)
  })

  test('call prints what the tool says', async () => {
    const url = await everything(mode)

    const shown = await mcp('call', 'echo', '--server', url, '--args', '{"message":"ahoy"}')

    expect(shown).toEqual({ code: 0, stdout: 'Echo: ahoy\n', stderr: '' })
  })
})

test('list of one category as JSON has that one key', async () => {
  const { stdout } = await mcp(
    'list',
    'prompts',
    '--server',
    await everything('streamableHttp'),
    '--format',
    'json',
  )

  const { prompts, ...others } = JSON.parse(stdout) as { prompts: { name: string }[] }
  expect(prompts.map(({ name }) => name)).toContain('simple-prompt')
  expect(others).toEqual({})
})

test('call --format json prints the whole result', async () => {
  const url = await everything('streamableHttp')

  const { stdout } = await mcp(
    'call',
    'get-structured-content',
    '--server',
    url,
    '--format',
    'json',
    '--args',
    '{"location":"Chicago"}',
  )

  expect(JSON.parse(stdout)).toMatchObject({
    content: [{ type: 'text' }],
    structuredContent: { humidity: 82 },
  })
})

test('text that is the structured content once more is printed once', async () => {
  const structuredContent = { humidity: 82 }
  const url = await scripted({
    'tools/call': () => ({
      structuredContent,
      content: [
        { type: 'text', text: JSON.stringify(structuredContent) },
        { type: 'text', text: 'wet' },
      ],
    }),
  })

  expect((await mcp('call', 'weather', '--server', url)).stdout).toBe('wet\n{\n  "humidity": 82\n}\n')
})

const TOOL = {
  name: 'get_note',
  title: 'Get a note',
  description: 'Returns a note.\n   By its id.',
  annotations: { readOnlyHint: true },
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'integer', description: 'of the\n note' }, form: { enum: ['long', 'short'] } },
    required: ['id'],
  },
}

test('inspect shows what a tool does and takes', async () => {
  const url = await scripted({ 'tools/list': () => ({ tools: [TOOL] }) })

  const { code, stdout } = await mcp('inspect', 'get_note', '--server', url)
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `get_note: Get a note
Returns a note.
   By its id.
The server says: changes nothing.

ARGUMENT   TYPE             REQUIRED   DESCRIPTION
id         integer          yes        of the note
form       "long"|"short"   no         -
`,
  })
  expect(JSON.parse((await mcp('inspect', 'get_note', '--server', url, '--format', 'json')).stdout)).toEqual(
    TOOL,
  )
})

test.each([
  ['an error', () => 'unknown tool'],
  ['a result', () => ({ isError: true, content: [{ type: 'text', text: 'Tool get_not not found' }] })],
])('a tool that the server does not have, reported as %s, is named with a near one', async (_, call) => {
  const url = await scripted({ 'tools/list': () => ({ tools: [TOOL] }), 'tools/call': call })

  for (const verb of ['call', 'inspect']) {
    expect(await mcp(verb, 'get_not', '--server', url)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'Error: The server has no tool "get_not".\nDid you mean "get_note"? `keelson mcp list tools --server NAME` shows them.\n',
    })
  }
})

test('what the capabilities do not name is not asked for, and JSON is all that is printed', async () => {
  const asked: string[] = []
  const initialize = () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'scripted', version: '1.0.0' },
  })
  const noted = (method: string) => () => {
    asked.push(method)
    return { [method.split('/')[0] ?? '']: [] }
  }
  const methods = ['tools/list', 'resources/list', 'prompts/list']
  const url = await scripted({ initialize, ...Object.fromEntries(methods.map(one => [one, noted(one)])) })

  const { stdout, stderr } = await mcp('list', '--server', url, '--format', 'json')
  expect({ asked, stderr }).toEqual({ asked: ['tools/list'], stderr: '' })
  expect(JSON.parse(stdout)).toEqual({ tools: [], resources: [], prompts: [] })
})

test('content other than text is described in brackets', async () => {
  const { stdout } = await mcp('call', 'get-tiny-image', '--server', await everything('streamableHttp'))

  expect(stdout).toMatch(/^\[image: image\/png, \d+ bytes\]$/m)
})

test('arguments come from a file, or from standard input', async () => {
  const user = await keelsonUser()
  const url = await everything('streamableHttp')
  await writeFile(join(user.home, 'args.json'), '{"a":2,"b":3}')
  const call = ['mcp', 'call', 'get-sum', '--server', url, '--args-file']

  expect((await user.run([...call, 'args.json'])).stdout).toContain('5')
  expect((await user.run([...call, '-'], { input: '{"a":20,"b":30}' })).stdout).toContain('50')
})

test('a tool that fails: what it says on stdout, the failure on stderr, exit 1', async () => {
  const url = await scripted({
    'tools/call': () => ({ isError: true, content: [{ type: 'text', text: 'the disk is full' }] }),
  })

  const failed = await mcp('call', 'save', '--server', url)
  const ignored = await mcp('call', 'save', '--server', url, '--ignore-tool-error')

  expect(failed).toMatchObject({ code: 1, stdout: 'the disk is full\n' })
  expect(failed.stderr).toContain('The tool "save" reports that it failed.')
  expect(ignored).toMatchObject({ code: 0, stdout: 'the disk is full\n' })
})

test('a server of the 2026-07-28 revision is called with that revision', async () => {
  const url = await modernServer()

  expect((await mcp('list', 'tools', '--server', url)).stdout).toMatch(/now\s+Says which era this is/)
  expect((await mcp('call', 'now', '--server', url)).stdout).toBe('modern times\n')
})

describe('tools whose arguments are repeated in headers', () => {
  const server = (name: string, header: string) =>
    startStatelessServer({
      respond({ message: { id, method } }, response) {
        if (method !== 'tools/list') return false
        const inputSchema = {
          type: 'object',
          properties: { region: { type: 'string', 'x-mcp-header': header } },
        }
        const result = {
          resultType: 'complete',
          tools: [{ name, inputSchema }],
          ttlMs: 0,
          cacheScope: 'private',
        }
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
        return true
      },
    })

  test('are called with these headers at once', async () => {
    const { origin, received } = await server('place', 'Region')

    const shown = await mcp('call', 'place', '--server', `${origin}/mcp`, '--args', '{"region":"Zürich"}')

    expect(shown).toEqual({ code: 0, stdout: 'nobody\n', stderr: '' })
    expect(received('tools/call').map(({ headers }) => headers['mcp-param-region'])).toEqual([
      '=?base64?WsO8cmljaA==?=',
    ])
  })

  test('are left out where the header is not valid, and their names are not written as they are', async () => {
    const { origin } = await server('bad\u001b[2J', 'a b')

    const { stdout, stderr } = await mcp('list', 'tools', '--server', `${origin}/mcp`)

    expect(stdout).toBe('TOOLS: none\n')
    expect(stderr).toContain('its x-mcp-header is not valid')
    expect(stderr).not.toContain('\u001b[2J')
  })
})

test('lists are read to the last page', async () => {
  const url = await scripted({
    'tools/list': params => {
      const page = Number(params?.cursor ?? 0)
      const tools = [{ name: `tool-${page}`, inputSchema: { type: 'object' } }]
      return page === 99 ? { tools } : { tools, nextCursor: String(page + 1) }
    },
  })

  const { stdout } = await mcp('list', 'tools', '--server', url, '--format', 'json')

  expect((JSON.parse(stdout) as { tools: unknown[] }).tools).toHaveLength(100)
})

test('a server that pages for ever is ended by the time limit', async () => {
  let page = 0
  const url = await scripted({ 'tools/list': () => ({ tools: [], nextCursor: String(page++) }) })

  const { code, stderr } = await mcp('list', 'tools', '--server', url, '--timeout', '1s')

  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('within 1 s') })
})

test('a category that fails is empty and warned of; alone it is an error', async () => {
  const url = await scripted({
    'tools/list': () => ({ tools: [{ name: 'one', inputSchema: { type: 'object' } }] }),
    'resources/list': () => 'the shelf is broken',
    'prompts/list': () => ({ prompts: [] }),
  })

  const all = await mcp('list', '--server', url, '--format', 'json')
  const one = await mcp('list', 'resources', '--server', url)

  expect(JSON.parse(all.stdout)).toMatchObject({ tools: [{ name: 'one' }], resources: [], prompts: [] })
  expect(all).toMatchObject({ code: 0, stderr: expect.stringContaining('the shelf is broken') })
  expect(one).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('the shelf is broken') })
})

test('text of a server cannot steer the terminal in a list', async () => {
  const url = await scripted({
    'tools/list': () => ({
      tools: [{ name: 'x\u001b[31m', description: 'a\nb', inputSchema: { type: 'object' } }],
    }),
  })

  expect((await mcp('list', 'tools', '--server', url)).stdout).toMatch(/\nx\s+a b\n$/)
})

describe('when nothing works', () => {
  test('a refused connection names the URL and what to check', async () => {
    const url = `http://127.0.0.1:${await freePort()}/mcp`

    for (const transport of ['auto', 'sse', 'streamable-http']) {
      const { code, stdout, stderr } = await mcp('list', '--server', url, '--transport', transport)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(`No MCP server responds at ${url}: the connection was refused.`)
      expect(stderr).toContain('keelson list --all')
    }
  })

  test('a server that never responds is given up after --timeout', async () => {
    const url = await serve(() => {})

    for (const transport of ['sse', 'streamable-http']) {
      const { code, stderr } = await mcp(
        'call',
        'x',
        '--server',
        url,
        '--timeout',
        '300ms',
        '--transport',
        transport,
      )
      expect({ code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('did not respond within 0.3 s'),
      })
    }
  })

  test('a tool that takes too long is given up, too', async () => {
    const url = await everything('streamableHttp')
    const call = ['trigger-long-running-operation', '--args', '{"duration":60,"steps":60}', '--timeout', '1s']

    const { code, stderr } = await mcp('call', ...call, '--server', url)

    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('within 1 s') })
  })

  test.each([404, 500])(
    'a web server that is not an MCP server (HTTP %i) fails with its status',
    async status => {
      const url = await serve((_, response) => response.writeHead(status).end('hello'))

      const { code, stderr } = await mcp('list', '--server', url)

      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(`HTTP ${status}`) })
    },
  )

  test('a response that is not MCP is an error', async () => {
    const url = await serve((_, response) => response.end('<html>'))

    const { code, stderr } = await mcp('list', '--server', url, '--timeout', '5s')

    expect(code).toBe(1)
    expect(stderr).toContain('No MCP server responds at')
    expect(stderr).not.toContain('defect')
  })

  test('a response that is JSON, but no message of MCP, is not explained in the words of a validator', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":"world"}'),
    )

    const { stderr } = await mcp('list', '--server', url, '--timeout', '5s')

    expect(stderr).toContain(`No MCP server responds at ${url}/: what it sent is not an MCP message.`)
  })

  test('a server that wants a login says so', async () => {
    const url = await serve((_, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end())

    const { code, stderr } = await mcp('list', '--server', url)

    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it requires a login'),
    })
  })

  test('a request that the server refuses shows its own words', async () => {
    const url = await scripted({ 'tools/call': () => 'there is no tool "nosuch"' })

    const { code, stderr } = await mcp('call', 'nosuch', '--server', url)

    expect(code).toBe(1)
    expect(stderr).toContain('there is no tool "nosuch" (JSON-RPC error -32603)')
  })

  test.each([
    [
      429,
      { code: 429, message: 'Rate limit exceeded' },
      'A limit is reached, so the connection was refused (HTTP 429). Try again in 7 s.',
    ],
    [
      403,
      { code: 403, message: 'Unauthorized' },
      'The policies of the workload do not allow the connection.',
    ],
    [
      403,
      { code: 403, message: 'Denied by a\u001b webhook' },
      'The server refused the connection: Denied by a  webhook (JSON-RPC error 403).',
    ],
    [
      504,
      { code: -32000, message: 'The server did not respond in time' },
      'The server did not respond in time, so the connection was ended.',
    ],
  ])('a request that a proxy refuses with %i (%o) says why', async (status, error, text) => {
    const asked: unknown[] = []
    const url = await serve((request, response) => {
      asked.push(request.method)
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' })
      response.end(JSON.stringify({ jsonrpc: '2.0', error }))
    })

    const { code, stderr } = await mcp('call', 'x', '--server', url)

    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(text) })
    expect(new Set(asked)).toEqual(new Set(['POST']))
  })

  test('a call that a proxy ended in an event stream says that it took too long', async () => {
    const url = await scripted({ 'tools/call': () => 'The server did not respond in time' })

    const { stderr } = await mcp('call', 'x', '--server', url)

    expect(stderr).toContain('The server did not respond in time, so the call of "x" was ended.')
  })

  test('a workload that does not exist', async () => {
    const { code, stderr } = await mcp('list', '--server', 'nosuch')

    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no workload "nosuch"'),
    })
  })

  test.each([
    [['list'], '--server is missing'],
    [['list', 'wings', '--server', 'http://127.0.0.1:1/'], '"wings" is not one of them'],
    [['list', '--server', 'ftp://example.com'], '--server takes an http or https URL'],
    [['list', '--server', 'http://'], '--server takes an http or https URL'],
    [['list', '--server', 'x', '--timeout', '0'], '--timeout must be more than 0'],
    [['list', '--server', 'x', '--transport', 'stdio'], '--transport takes one of'],
    [['call', '--server', 'x'], 'keelson mcp call [flags] TOOL'],
    [['call', 'x', '--server', 'x', '--args', '{"a":'], '--args is not a JSON object'],
    [['call', 'x', '--server', 'x', '--args', '[1]'], '--args is not a JSON object: it is a list'],
    [['call', 'x', '--server', 'x', '--args', '{}', '--args-file', 'f'], 'exclude each other'],
    [
      ['call', 'x', '--server', 'x', '--args-file', 'nosuch.json'],
      'The --args-file nosuch.json does not exist.',
    ],
  ])('%j is wrong usage: %s', async (args, reason) => {
    const { code, stdout, stderr } = await mcp(...args)

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(reason)
    expect(stderr).not.toContain('    at ')
  })
})
