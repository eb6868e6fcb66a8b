import { CLIENT_HEADER, type Content, type Operation } from './api.ts'

const TEXT = { 'text/plain': { schema: { type: 'string' } } }
const CODED = {
  'application/json': {
    schema: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'string' }, message: { type: 'string' } },
      additionalProperties: false,
    },
  },
}

const REFUSED = {
  'application/json': {
    schema: {
      type: 'object',
      required: ['error', 'error_description'],
      properties: { error: { type: 'string' }, error_description: { type: 'string' } },
      additionalProperties: false,
    },
  },
}
const SCHEME = 'login'

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
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(operation, login && operation.open !== true),
    }
  }
  const schemes = { [SCHEME]: { type: 'http', scheme: 'bearer' } }
  return { openapi: '3.1.0', info, paths, ...(login ? { components: { securitySchemes: schemes } } : {}) }
}

function describe(operation: Operation, login: boolean): object {
  const {
    id,
    tag,
    summary,
    body,
    bodyOptional,
    query = {},
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
  const failure = style === 'json' ? CODED : style === 'registry' ? { ...TEXT, ...CODED } : TEXT
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(login ? { security: [{ [SCHEME]: [] }] } : {}),
    parameters: [
      ...[...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
      ...Object.entries(query).map(([name, { type, description }]) => ({
        name,
        in: 'query',
        description,
        schema: { type },
      })),
      ...(operation.programsOnly
        ? [{ name: CLIENT_HEADER, in: 'header', required: true, schema: { type: 'string' } }]
        : []),
    ],
    ...(body
      ? {
          requestBody: { required: bodyOptional !== true, content: { 'application/json': { schema: body } } },
        }
      : {}),
    responses: {
      [status]: { description: summary, ...(content === 'empty' ? {} : { content: contentOf(content) }) },
      ...Object.fromEntries(
        [...statuses]
          .sort((a, b) => a - b)
          .map(code => [
            code,
            {
              description: REASONS[code] ?? 'Failure',
              content: {
                ...failure,
                ...(isRefusal(code) ? REFUSED : {}),
                ...(failureSchemas[code] ? { 'application/json': { schema: failureSchemas[code] } } : {}),
              },
            },
          ]),
      ),
    },
  }
}

const contentOf = (content: Content): object => {
  if (content === 'text') return TEXT
  if (content === 'html') return { 'text/html': { schema: { type: 'string' } } }
  if (content === 'events') return { 'text/event-stream': { schema: { type: 'string' } } }
  return { 'application/json': { schema: content } }
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
