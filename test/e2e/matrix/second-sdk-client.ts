import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { WATCHED } from '../../../fixtures/eras/catalogue.ts'
import { textOf } from '../clients.ts'
import { REVISIONS, STATELESS } from './combinations.ts'
import { type Connect, cuttingFetch, type EraClient, RECONNECTION, RESPONSES } from './era-client.ts'

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'

/** Connects the client of the second SDK, held to one era: it neither falls back nor takes a newer revision. */
export const secondSdkClient: Connect = async (revision, url, over): Promise<EraClient> => {
  const { fetch, cutNextStream } = cuttingFetch()
  const transport =
    over === 'sse'
      ? new SSEClientTransport(url)
      : new StreamableHTTPClientTransport(url, { fetch, reconnectionOptions: RECONNECTION })
  const heard: { method?: string; params?: Record<string, unknown> }[] = []
  transport.onmessage = message => heard.push(message as (typeof heard)[number])
  const isStateless = revision === STATELESS
  const client = new Client(
    { name: 'matrix', version: '1' },
    {
      ...(isStateless
        ? { versionNegotiation: { mode: { pin: revision } } }
        : { supportedProtocolVersions: REVISIONS.filter(older => older <= revision).toReversed() }),
      capabilities: { sampling: {}, roots: {}, elicitation: { form: {}, url: {} } },
    },
  )
  client.setRequestHandler('sampling/createMessage', async () => RESPONSES.sample)
  client.setRequestHandler('roots/list', async () => RESPONSES.roots)
  client.setRequestHandler('elicitation/create', async ({ params }) =>
    params.mode === 'url' ? RESPONSES.url : RESPONSES.form,
  )
  await client.connect(transport)
  let meta = {}
  return {
    async call(name, args = {}, { signal, progress } = {}) {
      const result = await client.callTool(
        { name, arguments: args, _meta: meta },
        { ...(signal ? { signal } : {}), ...(progress ? { onprogress: () => undefined } : {}) },
      )
      return { text: textOf(result), isError: result.isError === true }
    },
    // The SDK asks for all pages by itself.
    toolNames: async () => (await client.listTools({}, { cacheMode: 'bypass' })).tools.map(tool => tool.name),
    async complete(value) {
      const ref = { type: 'ref/prompt' as const, name: 'greet' }
      return (await client.complete({ ref, argument: { name: 'whom', value } })).completion.values
    },
    async watch(what) {
      if (isStateless)
        await client.listen(
          what === 'resource' ? { resourceSubscriptions: [WATCHED] } : { toolsListChanged: true },
        )
      else if (what === 'resource') await client.subscribeResource({ uri: WATCHED })
    },
    async wantLogs() {
      if (isStateless) meta = { [LOG_LEVEL]: 'debug' }
      else await client.setLoggingLevel('debug')
    },
    heard: method => heard.flatMap(message => (message.method === method ? [message.params ?? {}] : [])),
    cutNextStream,
    async close() {
      if (transport instanceof StreamableHTTPClientTransport)
        await transport.terminateSession().catch(() => {})
      await client.close()
    },
  }
}
