import { capitalise } from '../lib/capitalise.ts'
import { closed, named, object, type Schema, text } from '../lib/schema.ts'
import { CLIENT_HEADER, type Content, type Operation } from './api.ts'
import { CALLER_TOKEN_HEADER } from './caller-token-header.ts'
import { createSchemaComponents, type SchemaComponents } from './schema-components.ts'

const TEXT = { 'text/plain': { schema: { type: 'string' } } }
const json = (schema: object) => ({ 'application/json': { schema } })
const CODED = named('Failure', object({ code: text, message: text }, closed))
const REFUSED = named('Refusal', object({ error: text, error_description: text }, closed))

/** How callers authenticate: with the token of a login, or with the token of this machine if one is required. */
const LOGIN = { login: { type: 'http', scheme: 'bearer' } }
const CALLER_TOKEN = { callerToken: { type: 'apiKey', in: 'header', name: CALLER_TOKEN_HEADER } }

/** Failures of the host, which any operation may have. */
const EVERYWHERE = [401, 403, 429, 500, 504]
const WITH_BODY = [400, 413]
const WITH_NAME = [400, 414]

/** The OpenAPI 3.1 document of the operations, made of the schemas that check what comes in. */
export function toOpenApi(
  operations: readonly Operation[],
  {
    login,
    ...info
  }: { title: string; version: string /** Whether callers have to log in. */; login: boolean },
): object {
  const components = createSchemaComponents()
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(operation, login && operation.open !== true, components),
    }
  }
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/', description: 'The server that this description comes from' }],
    // An empty object: the token is needed only where the owner of the server requires it.
    security: login ? [{ login: [] }] : [{}, { callerToken: [] }],
    paths,
    components: { schemas: components.schemas, securitySchemes: login ? LOGIN : CALLER_TOKEN },
  }
}

function describe(operation: Operation, login: boolean, components: SchemaComponents): object {
  const {
    id,
    tag,
    summary,
    body,
    bodyOptional,
    response,
    failures = [],
    failureSchemas = {},
    style = 'text',
  } = operation
  const [status, content] = response
  const statuses = new Set([
    ...failures,
    ...Object.keys(failureSchemas).map(Number),
    ...EVERYWHERE,
    ...(body ? WITH_BODY : []),
    ...(operation.path.includes('{') ? WITH_NAME : []),
    ...(login ? [503] : []),
  ])
  const isRefusal = (code: number) => login && (code === 401 || code === 403 || code === 503)
  const coded = json(components.place(CODED))
  const failure = style === 'json' ? coded : style === 'registry' ? { ...TEXT, ...coded } : TEXT
  const contentOf = (code: number) => ({
    ...failure,
    ...(isRefusal(code) ? json(components.place(REFUSED)) : {}),
    ...(failureSchemas[code] ? json(components.place(failureSchemas[code])) : {}),
  })
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(operation.open ? { security: [] } : {}),
    parameters: parametersOf(operation),
    ...(body
      ? {
          requestBody: {
            required: bodyOptional !== true,
            content: json(components.place(body, `${capitalise(id)}Request`)),
          },
        }
      : {}),
    responses: {
      [status]: {
        description: summary,
        ...(content === 'empty'
          ? {}
          : { content: successOf(content, schema => components.place(schema, `${capitalise(id)}Response`)) }),
      },
      ...Object.fromEntries(
        [...statuses]
          .sort((a, b) => a - b)
          .map(code => [code, { description: REASONS[code] ?? 'Failure', content: contentOf(code) }]),
      ),
    },
  }
}

const parametersOf = ({ path, params = {}, query = {}, programsOnly }: Operation): object[] => [
  ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: params[name] ?? text,
  })),
  ...Object.entries(query).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description,
    schema,
  })),
  ...(programsOnly ? [{ name: CLIENT_HEADER, in: 'header', required: true, schema: text }] : []),
]

function successOf(content: Exclude<Content, 'empty'>, place: (schema: Schema) => object): object {
  if (content === 'text') return TEXT
  if (content === 'html') return { 'text/html': { schema: text } }
  if (content === 'events') return { 'text/event-stream': { schema: text } }
  return json(place(content))
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'A valid login or the caller token is needed, or a login where it is fetched from.',
  403: 'Refused: another user or site asks, the Host is not ours, or something may not be read.',
  404: 'There is no such thing.',
  405: 'The secrets provider in use cannot do that.',
  409: 'It is there already, or in use.',
  413: 'The body is longer than 1 MiB.',
  414: 'The path is too long.',
  422: 'It was understood, and could not be done.',
  429: 'Too many requests.',
  500: 'Something failed here; the log has the details.',
  501: 'That is not offered here.',
  502: 'An external service returned an invalid response.',
  503: 'What is needed cannot be reached now.',
  504: 'It took too long.',
}
