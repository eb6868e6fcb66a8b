import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { startTinyMcp } from '../../support/tiny-mcp.ts'

const skill = new URL('../../../fixtures/skills/csv-report', import.meta.url).pathname

/** Refused always, or in need of an engine, a server with tools or a browser, or a stream (see their own tests). */
const ELSEWHERE = [
  'addRegistry',
  'allowWorkloadDestination',
  'beginWorkloadLogin',
  'callWorkloadTool',
  'getWorkloadLogs',
  'getWorkloadPrompt',
  'listWorkloadPrompts',
  'listWorkloadResources',
  'listWorkloadTools',
  'loginToRegistry',
  'logoutOfRegistry',
  'pushSkill',
  'readWorkloadResource',
  'removeRegistry',
  'streamEvents',
  'streamWorkloadLogs',
  'streamWorkloadProxyLogs',
]

test('every operation that is described succeeds as it is described', async () => {
  const user = await keelsonUser()
  user.env.KEELSON_SECRETS_PASSWORD = 'correct horse battery'
  const api = await startApi({ user })
  const url = await startTinyMcp()
  const project = join(await realpath(user.home), 'project')
  await mkdir(join(project, '.git'), { recursive: true })
  const v1 = '/api/v1beta'
  const all: readonly (readonly [method: string, path: string, body?: unknown])[] = [
    ['GET', '/health'],
    ['GET', `${v1}/version`],
    ['GET', '/api/openapi.json'],
    ['GET', '/api/doc'],
    ['GET', `${v1}/plugins`],
    ['GET', `${v1}/plugins/builds`],
    ['GET', '/registry/default/v0.1/x/dev.toolhive/plugins'],
    ['POST', `${v1}/groups`, { name: 'team' }],
    ['GET', `${v1}/groups`],
    ['GET', `${v1}/groups/team`],
    ['POST', `${v1}/clients`, { name: 'zed' }],
    ['POST', `${v1}/clients/register`, { names: ['cursor'], groups: ['team'] }],
    ['GET', `${v1}/clients`],
    ['GET', `${v1}/discovery/clients`],
    ['DELETE', `${v1}/clients/cursor/groups/team`],
    ['POST', `${v1}/clients/unregister`, { names: ['cursor'] }],
    ['DELETE', `${v1}/clients/zed`],
    ['DELETE', `${v1}/groups/team`],
    ['POST', `${v1}/secrets`, { provider_type: 'encrypted' }],
    ['GET', `${v1}/secrets/default`],
    ['POST', `${v1}/secrets/default/keys`, { key: 'a', value: 'b' }],
    ['PUT', `${v1}/secrets/default/keys/a`, { value: 'c' }],
    ['GET', `${v1}/secrets/default/keys`],
    ['DELETE', `${v1}/secrets/default/keys/a`],
    ['GET', `${v1}/registry`],
    ['GET', `${v1}/registry/default`],
    ['PUT', `${v1}/registry/default`, {}],
    ['POST', `${v1}/registry/default/refresh`],
    ['GET', `${v1}/registry/default/servers`],
    ['GET', `${v1}/registry/default/servers/fetch`],
    ['PUT', `${v1}/registry/default/servers/fetch/secrets/TOKEN`, { value: 'd' }],
    ['GET', `${v1}/registry/default/servers/fetch/secrets`],
    ['GET', '/registry/default/v0.1/servers?limit=200'],
    ['GET', '/registry/default/v0.1/servers/fetch/versions/latest'],
    ['GET', '/registry/default/v0.1/x/dev.toolhive/skills?limit=200'],
    ['GET', '/registry/default/v0.1/x/dev.toolhive/skills/io.github.anthropics/frontend-design'],
    ['POST', `${v1}/skills/validate`, { path: skill }],
    ['POST', `${v1}/skills/build`, { path: skill }],
    ['GET', `${v1}/skills/builds`],
    ['POST', `${v1}/skills/content`, { ref: 'csv-report' }],
    ['GET', `${v1}/skills/content?ref=csv-report`],
    ['POST', `${v1}/skills`, { name: 'csv-report', clients: ['cursor'], allow_unsigned: true }],
    ['GET', `${v1}/skills`],
    ['GET', `${v1}/skills/csv-report`],
    ['DELETE', `${v1}/skills/csv-report`],
    ['POST', `${v1}/skills/sync`, { project_root: project, check: true }],
    ['POST', `${v1}/skills/upgrade`, { project_root: project, preview: true }],
    ['DELETE', `${v1}/skills/builds/csv-report`],
    ['POST', `${v1}/workloads`, { name: 'a', url }],
    ['GET', `${v1}/workloads`],
    ['GET', `${v1}/workloads/a`],
    ['GET', `${v1}/workloads/a/export`],
    ['GET', `${v1}/workloads/a/status`],
    ['GET', `${v1}/workloads/upgrade-check?all=true`],
    ['GET', `${v1}/workloads/a/upgrade-check`],
    ['POST', `${v1}/workloads/a/upgrade`],
    ['DELETE', `${v1}/workloads/a/login`],
    ['POST', `${v1}/workloads/a/edit`, { url, cmd_arguments: [] }],
    ['GET', `${v1}/workloads/a/denials`],
    ['POST', `${v1}/endpoints`, { name: 'all', servers: ['a'] }],
    ['GET', `${v1}/endpoints`],
    ['GET', `${v1}/endpoints/all`],
    ['POST', `${v1}/endpoints/all/edit`, { naming: 'plain' }],
    ['DELETE', `${v1}/workloads/all`],
    ['POST', `${v1}/workloads/stop`, { names: ['a'] }],
    ['POST', `${v1}/workloads/a/stop`],
    ['POST', `${v1}/workloads/restart`, { names: ['a'] }],
    ['POST', `${v1}/workloads/a/restart`],
  ]
  for (const [method, path, body] of all) {
    const answer = await api.ask(method, path, body, { 'x-keelson-client': 'a test' })
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
  }
  await api.untilStatus('a', 'running')
  expect((await api.ask('GET', `${v1}/workloads/a/proxy-logs`)).status).toBe(200)
  expect((await api.ask('DELETE', `${v1}/workloads/a`)).status).toBe(202)
  expect((await api.ask('POST', `${v1}/workloads/delete`, { names: ['a'] })).status).toBe(202)

  const described = Object.values(api.document.paths).flatMap(methods =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  expect(new Set(described).size).toBe(described.length)
  expect(described.filter(id => !api.succeeded.has(id)).sort()).toEqual(ELSEWHERE)
})

test('the description names its schemas, its server, who may ask, and what names may be', async () => {
  const api = await startApi()
  const text = (await api.ask('GET', '/api/openapi.json')).text
  const document = JSON.parse(text)
  const { schemas, securitySchemes } = document.components

  const referred = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name)
  expect(new Set(referred)).toEqual(new Set(Object.keys(schemas)))
  expect(referred).toEqual(expect.arrayContaining(['Workload', 'WorkloadDetails', 'CreateWorkloadRequest']))
  expect(text).not.toContain('patternProperties') // few generators know it
  expect(document.servers).toMatchObject([{ url: '/' }])
  expect(document.security).toEqual([{}, { callerToken: [] }])
  expect(securitySchemes.callerToken).toMatchObject({ type: 'apiKey', in: 'header' })
  expect(document.paths['/health'].get.security).toEqual([])
  expect(document.paths['/api/openapi.json']).toBeDefined()
  const [name] = document.paths['/api/v1beta/workloads/{name}/edit'].post.parameters
  expect(name.schema).toMatchObject({ pattern: '^[a-zA-Z0-9._-]+$', maxLength: 100 })
})
