import type { App } from '../../src/app.ts'
import { messageOf } from '../../src/errors.ts'
import type { Api } from '../../src/http/api.ts'
import { closed, list, object, optional, text, textMap } from '../../src/lib/schema.ts'
import { workloadName } from '../state/index.ts'
import { asBadGateway } from './as-bad-gateway.ts'
import { type McpSession, withServer } from './connect.ts'
import { findServer } from './find-server.ts'
import { listOffers } from './list-offers.ts'

const TIMEOUT_MS = 30_000

const tag = 'workloads'
const path = '/api/v1beta/workloads/{name}'
const params = { name: workloadName }
const failures = [400, 404, 409, 502]

/** An object of MCP. Servers may add members. */
const asMcpHasIt = (what: string) =>
  object({}, { additionalProperties: true, description: `${what}, as MCP writes it` })

const resource = asMcpHasIt('A resource')
const template = asMcpHasIt('A template of resources')
const contents = asMcpHasIt('Contents of a resource')
const prompt = asMcpHasIt('A prompt')
const message = asMcpHasIt('A message')

/** Resources and prompts of a server, through the workload's own proxy. */
export function offerRoutes(api: Api, app: App): void {
  async function ask<T>(
    name: string,
    signal: AbortSignal,
    work: (session: McpSession) => Promise<T>,
  ): Promise<T> {
    const server = await findServer(app, name, 'auto')
    return withServer(server, { timeoutMs: TIMEOUT_MS, signal, log: app.log }, work).catch(asBadGateway)
  }

  api.operation({
    id: 'listWorkloadResources',
    method: 'GET',
    path: `${path}/resources`,
    params,
    tag,
    summary: 'The resources that the server of a running workload offers now, and templates of their URIs',
    response: [200, object({ resources: list(resource), templates: list(template) }, closed)],
    failures,
    handle: ({ params: { name }, signal }) =>
      ask(name, signal, async session => ({
        resources: (await listOffers(session, ['resources'], () => undefined)).resources ?? [],
        templates: await listTemplates(session),
      })),
  })

  api.operation({
    id: 'readWorkloadResource',
    method: 'POST',
    path: `${path}/resources/read`,
    params,
    tag,
    summary: 'Reads a resource of a running workload',
    body: object({ uri: text }, closed),
    response: [200, object({ contents: list(contents) }, closed)],
    failures,
    handle: ({ params: { name }, body: { uri }, signal }) =>
      ask(name, signal, async ({ client, options, fail }) => {
        const { contents } = await client
          .readResource({ uri }, options)
          .catch(error => fail(error, `to read ${JSON.stringify(uri)}`))
        return { contents }
      }),
  })

  api.operation({
    id: 'listWorkloadPrompts',
    method: 'GET',
    path: `${path}/prompts`,
    params,
    tag,
    summary: 'The prompts that the server of a running workload offers now',
    response: [200, object({ prompts: list(prompt) }, closed)],
    failures,
    handle: ({ params: { name }, signal }) =>
      ask(name, signal, async session => ({
        prompts: (await listOffers(session, ['prompts'], () => undefined)).prompts ?? [],
      })),
  })

  api.operation({
    id: 'getWorkloadPrompt',
    method: 'POST',
    path: `${path}/prompts/get`,
    params,
    tag,
    summary: 'The messages of a prompt of a running workload',
    body: object({ name: text, arguments: optional(textMap) }, closed),
    response: [200, object({ description: optional(text), messages: list(message) }, closed)],
    failures,
    handle: ({ params, body, signal }) =>
      ask(params.name, signal, async ({ client, options, fail }) => {
        const { description, messages } = await client
          .getPrompt({ name: body.name, arguments: body.arguments ?? {} }, options)
          .catch(error => fail(error, `the prompt ${JSON.stringify(body.name)}`))
        return { ...(description === undefined ? {} : { description }), messages }
      }),
  })

  /** A server that has resources need not know templates. */
  async function listTemplates({ client, options }: McpSession) {
    if (!client.getServerCapabilities()?.resources) return []
    try {
      return (await client.listResourceTemplates(undefined, options)).resourceTemplates
    } catch (error) {
      options.signal.throwIfAborted()
      app.log.debug(`The templates of resources could not be listed: ${messageOf(error)}`)
      return []
    }
  }
}
