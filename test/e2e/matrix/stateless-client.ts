import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { WATCHED } from '../../../fixtures/eras/catalogue.ts'
import { textOf } from '../clients.ts'
import { STATELESS } from './combinations.ts'
import { cuttingFetch, type EraClient, RESPONSES } from './era-client.ts'

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'

/** Connects the client of the second SDK, held to 2026-07-28: it never falls back to `initialize`. */
export async function statelessClient(url: URL): Promise<EraClient> {
  const { fetch, cutNextStream } = cuttingFetch()
  const transport = new StreamableHTTPClientTransport(url, { fetch })
  const heard: { method?: string; params?: Record<string, unknown> }[] = []
  transport.onmessage = message => heard.push(message as (typeof heard)[number])
  const client = new Client(
    { name: 'matrix', version: '1' },
    {
      versionNegotiation: { mode: { pin: STATELESS } },
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
      await client.listen(
        what === 'resource' ? { resourceSubscriptions: [WATCHED] } : { toolsListChanged: true },
      )
    },
    async wantLogs() {
      meta = { [LOG_LEVEL]: 'debug' }
    },
    heard: method => heard.flatMap(message => (message.method === method ? [message.params ?? {}] : [])),
    cutNextStream,
    close: () => client.close(),
  }
}
