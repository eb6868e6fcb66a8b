import type { Attributes } from '@opentelemetry/api'
import type { ClientInfo } from '../../../src/net/client-info.ts'
import { hostNameOf } from '../../../src/net/host-names.ts'
import type { CallFacts } from '../call-facts.ts'
import type { TelemetrySettings } from '../settings.ts'
import { type RequestFacts, short } from './request-facts.ts'
import { shownArguments } from './shown-arguments.ts'

/** What is known of a request before it is sent on. */
export interface Known {
  readonly request: RequestFacts
  readonly call: CallFacts | undefined
  readonly client: ClientInfo | undefined
}

const idOf = (id: string | number): string => short(String(id))

/** Attributes of OpenTelemetry's semantic conventions, for HTTP, JSON-RPC, MCP and generative AI. */
export function attributesOf({ request, call, client }: Known, settings: TelemetrySettings): Attributes {
  const { host, path, query } = request
  const port = /:(\d{1,5})$/.exec(host)?.[1]
  return {
    'http.request.method': request.httpMethod,
    'url.full': `http://${host}${path}${query && `?${query}`}`,
    'url.scheme': 'http',
    'url.path': path,
    ...(query ? { 'url.query': query } : {}),
    'server.address': hostNameOf(host),
    ...(port ? { 'server.port': Number(port) } : {}),
    ...(request.userAgent === undefined ? {} : { 'user_agent.original': request.userAgent }),
    ...(request.bodySize === undefined ? {} : { 'http.request.body.size': request.bodySize }),
    ...(request.clientAddress === undefined ? {} : { 'client.address': request.clientAddress }),
    ...(request.clientPort === undefined ? {} : { 'client.port': request.clientPort }),
    ...(request.session === undefined ? {} : { 'mcp.session.id': request.session }),
    ...(request.protocolVersion === undefined ? {} : { 'mcp.protocol.version': request.protocolVersion }),
    'mcp.server.name': settings.workload,
    'network.transport': settings.transport === 'stdio' ? 'pipe' : 'tcp',
    ...(settings.transport === 'stdio'
      ? {}
      : { 'network.protocol.name': 'http', 'network.protocol.version': request.httpVersion }),
    ...(call ? callAttributes(call) : {}),
    ...(client?.name === undefined ? {} : { 'mcp.client.name': short(client.name) }),
  }
}

const callAttributes = ({ method, id, tool, prompt, uri, args }: CallFacts): Attributes => ({
  'mcp.method.name': short(method),
  'rpc.system.name': 'jsonrpc',
  'jsonrpc.protocol.version': '2.0',
  ...(id === undefined ? {} : { 'jsonrpc.request.id': idOf(id) }),
  ...(uri === undefined ? {} : { 'mcp.resource.uri': short(uri) }),
  ...(tool === undefined ? {} : { 'gen_ai.tool.name': short(tool), 'gen_ai.operation.name': 'execute_tool' }),
  ...(tool === undefined || !args ? {} : { 'gen_ai.tool.call.arguments': shownArguments(args) }),
  ...(prompt === undefined ? {} : { 'gen_ai.prompt.name': short(prompt) }),
})

/** The same under the names that older dashboards know. */
export function legacyAttributesOf({ request, call }: Known, settings: TelemetrySettings): Attributes {
  const { host, path, query } = request
  return {
    'http.method': request.httpMethod,
    'http.url': `http://${host}${path}${query && `?${query}`}`,
    'http.scheme': 'http',
    'http.host': host,
    'http.target': path,
    ...(query ? { 'http.query': query } : {}),
    ...(request.userAgent === undefined ? {} : { 'http.user_agent': request.userAgent }),
    ...(request.bodySize === undefined ? {} : { 'http.request_content_length': request.bodySize }),
    'mcp.transport': settings.transport,
    ...(call ? legacyCallAttributes(call) : {}),
  }
}

const legacyCallAttributes = ({ method, id, tool, prompt, resource, args }: CallFacts): Attributes => ({
  'mcp.method': short(method),
  'rpc.system': 'jsonrpc',
  'rpc.service': 'mcp',
  ...(id === undefined ? {} : { 'mcp.request.id': idOf(id) }),
  ...(resource ? { 'mcp.resource.id': short(resource) } : {}),
  ...(tool === undefined ? {} : { 'mcp.tool.name': short(tool) }),
  ...(tool === undefined || !args ? {} : { 'mcp.tool.arguments': shownArguments(args) }),
  ...(prompt === undefined ? {} : { 'mcp.prompt.name': short(prompt) }),
})
