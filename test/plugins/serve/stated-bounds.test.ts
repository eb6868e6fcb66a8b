import { expect, test } from 'vitest'
import { type Described, startApi } from '../../support/api-server.ts'
import { type Bounds, insideOf, outsideOf, placesOf } from '../../support/stated-bounds.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: Bounds
}

/** A bound of the document, and the request that has a value there. */
interface Stated {
  readonly what: string
  readonly member: string
  readonly bounds: Bounds
  ask(value: unknown): { method: string; path: string; body?: unknown }
}

const HEADERS = { 'x-keelson-client': 'a test' }
/** What a workload and an endpoint are called that are there; all else that paths name is not. */
const THERE = 'there'
const ENDPOINT = 'default'

/** The path with one parameter filled in; the others are names of nothing. */
const fill = (path: string, name?: string, value?: unknown): string =>
  path.replace(/\{(\w+)\}/g, (_, other: string) =>
    other === name ? encodeURIComponent(String(value)) : path.includes('/workloads/') ? THERE : ENDPOINT,
  )

function statedBy(method: string, path: string, described: Described): Stated[] {
  const { operationId: id, requestBody } = described
  const parameters = (described as { parameters?: readonly Parameter[] }).parameters ?? []
  const ofParameters = parameters.flatMap(({ name, in: place, schema }): Stated[] => {
    if (place === 'header') return []
    const query = (value: unknown) => `${fill(path)}?${name}=${encodeURIComponent(String(value))}`
    return placesOf(schema).map(({ bounds }) => ({
      ...{ what: `${id} ${place} ${name}`, member: name, bounds },
      ask: value => ({ method, path: place === 'path' ? fill(path, name, value) : query(value) }),
    }))
  })
  const schema = requestBody?.content['application/json'].schema ?? {}
  const ofBody = placesOf(schema).map(
    ({ path: member, bounds, wrap }): Stated => ({
      ...{ what: `${id} body ${member}`, member: member.split('.').at(-1) ?? '', bounds },
      ask: value => ({ method, path: fill(path), body: wrap(value) }),
    }),
  )
  return [...ofParameters, ...ofBody]
}

/** A path has no empty part, and slashes are its own. */
const canBeSent = ({ what }: Stated, value: unknown): boolean =>
  !what.includes(' path ') || (value !== '' && value !== '.' && value !== '..')

/** Fetching what is asked for would reach out of this machine; a value that is refused fetches nothing. */
const REACHES_OUT = /^(fetchSkillContent|getSkillContent|installSkill|updateRegistry|pushSkill|setUpSecrets) /

test('each bound that the description states is the one that is enforced', async () => {
  const api = await startApi({ args: ['--port', '0', '--rate-limit', '0'] })
  const body = { name: THERE, url: 'http://127.0.0.1:9/mcp' }
  expect((await api.ask('POST', '/api/v1beta/workloads', body)).status).toBe(201)
  const endpoint = { name: ENDPOINT, group: 'default' }
  expect((await api.ask('POST', '/api/v1beta/endpoints', endpoint)).status).toBe(201)
  const all = Object.entries(api.document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => statedBy(method.toUpperCase(), path, described)),
  )
  const whats = new Set(all.map(({ what }) => what))
  expect([...whats]).toEqual(expect.arrayContaining(STATED))
  for (const [path, methods] of Object.entries(api.document.paths)) {
    if (!path.includes('/workloads/{name}')) continue
    for (const { operationId } of Object.values(methods)) expect(whats).toContain(`${operationId} path name`)
  }

  for (const stated of all) {
    const { what, member, bounds, ask } = stated
    const outside = outsideOf(bounds).filter(value => canBeSent(stated, value))
    expect([what, outside.length]).not.toEqual([what, 0])
    for (const value of outside) {
      const { method, path, body: sent } = ask(value)
      const { status, text } = await api.ask(method, path, sent, HEADERS)
      expect([what, value, status, text]).toEqual([what, value, 400, expect.stringContaining(member)])
    }
    if (REACHES_OUT.test(what)) continue
    for (const value of insideOf(bounds).filter(value => canBeSent(stated, value))) {
      const { method, path, body: sent } = ask(value)
      const { status, text } = await api.ask(method, path, sent, HEADERS)
      const isRefused = status === 400 && refusalOf(member).test(text)
      expect([what, value, text, isRefused]).toEqual([what, value, text, false])
    }
  }
}, 300_000)

/** How a value outside of a bound is refused. */
const refusalOf = (member: string): RegExp =>
  new RegExp(
    `^The parameter ${member} is not valid|^The request body is not valid: \\S*${member}(\\.\\S+)? (must|has a name)`,
  )

/** Some of the bounds, so that a document without any fails. */
const STATED = [
  'createWorkload body .name',
  'createWorkload body .group',
  'createWorkload body .transport',
  'createWorkload body .proxy_port',
  'createWorkload body .resources.memory',
  'createWorkload body .secrets.name',
  'createWorkload body .env_vars',
  'createWorkload body .container_labels',
  'createWorkload body .publish',
  'createWorkload body .volumes',
  'createWorkload body .header_forward.add_plaintext_headers',
  'createWorkload body .header_forward.add_headers_from_secret',
  'createWorkload body .oauth_config.callback_port',
  'createWorkload body .remote_auth_config.callback_port',
  'createWorkload body .rate_limit_config.shared.maxTokens',
  'createWorkload body .rate_limit_config.perUser.refillPeriod',
  'createWorkload body .rate_limit_config.tools.name',
  'createWorkload body .rate_limit_config.maxConcurrentCalls',
  'createWorkload body .mutating_webhooks.name',
  'updateWorkload body .validating_webhooks.timeout',
  'updateWorkload body .url',
  'deleteWorkloads body .names',
  'listWorkloads query group',
  'getGroup path name',
  'updateSecret path key',
  'createSecret body .value',
  'registerClients body .names',
  'listSkills query scope',
]
