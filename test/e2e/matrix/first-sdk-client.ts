import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  type JSONRPCMessage,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { WATCHED } from '../../../fixtures/eras/catalogue.ts'
import { textOf } from '../clients.ts'
import type { Revision } from './combinations.ts'
import { type Connect, cuttingFetch, type EraClient, RECONNECTION, RESPONSES } from './era-client.ts'

/** Connects the client of the first SDK, held to a revision with `initialize` and the older ones. */
export const firstSdkClient: Connect = async (revision, url, over): Promise<EraClient> => {
  const { fetch, cutNextStream } = cuttingFetch()
  const transport =
    over === 'sse'
      ? new SSEClientTransport(url)
      : new StreamableHTTPClientTransport(url, { fetch, reconnectionOptions: RECONNECTION })
  const heard = hold(transport as Transport, revision)
  const client = makeClient(revision)
  await client.connect(transport as Transport)
  return {
    async call(name, args = {}, { signal, progress } = {}) {
      const result = await client.callTool({ name, arguments: args }, undefined, {
        ...(signal ? { signal } : {}),
        ...(progress ? { onprogress: () => undefined } : {}),
      })
      return { text: textOf(result), isError: result.isError === true }
    },
    async toolNames() {
      const names: string[] = []
      let cursor: string | undefined
      do {
        const page = await client.listTools(cursor === undefined ? {} : { cursor })
        names.push(...page.tools.map(tool => tool.name))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return names
    },
    async complete(value) {
      const ref = { type: 'ref/prompt' as const, name: 'greet' }
      return (await client.complete({ ref, argument: { name: 'whom', value } })).completion.values
    },
    async watch(what) {
      if (what === 'resource') await client.subscribeResource({ uri: WATCHED })
    },
    async wantLogs() {
      await client.setLoggingLevel('debug')
    },
    heard: method =>
      heard.flatMap(message =>
        'method' in message && message.method === method ? [message.params ?? {}] : [],
      ),
    cutNextStream,
    async close() {
      if (transport instanceof StreamableHTTPClientTransport)
        await transport.terminateSession().catch(() => {})
      await client.close()
    },
  }
}

function makeClient(revision: Revision): Client {
  const canFill = revision >= '2025-06-18'
  const client = new Client(
    { name: 'matrix', version: '1' },
    {
      capabilities: {
        sampling: {},
        roots: {},
        ...(canFill ? { elicitation: revision >= '2025-11-25' ? { form: {}, url: {} } : {} } : {}),
      },
    },
  )
  client.setRequestHandler(CreateMessageRequestSchema, async () => RESPONSES.sample)
  client.setRequestHandler(ListRootsRequestSchema, async () => RESPONSES.roots)
  if (canFill)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) =>
      params.mode === 'url' ? RESPONSES.url : RESPONSES.form,
    )
  return client
}

/** Holds the client of a transport to a revision, which the SDK cannot. Returns what the client receives. */
function hold(transport: Transport, revision: Revision): JSONRPCMessage[] {
  const heard: JSONRPCMessage[] = []
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    const { method, params } = message as { method?: string; params?: object }
    const isFirst = method === 'initialize'
    return send(
      (isFirst ? { ...message, params: { ...params, protocolVersion: revision } } : message) as never,
      options,
    )
  }
  transport.onmessage = message => {
    heard.push(message)
    const agreed = 'result' in message ? String(message.result.protocolVersion ?? '') : ''
    // The client of that time refuses what it does not know; the SDK would accept it.
    if (agreed > revision && 'result' in message) message.result.protocolVersion = `unknown: ${agreed}`
  }
  const setVersion = transport.setProtocolVersion?.bind(transport)
  // The header exists since 2025-06-18.
  transport.setProtocolVersion = version => {
    if (revision >= '2025-06-18') setVersion?.(version)
  }
  return heard
}
