import { mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type ApiServer, startApi } from '../../support/api-server.ts'
import { keelsonUser } from '../../support/keelson.ts'

const fixtures = new URL('../../../fixtures/skills', import.meta.url).pathname
const SKILLS = '/api/v1beta/skills'

/** A server for a user who has Cursor, a project, and the build `haiku-writer`. */
async function api(env: Record<string, string> = {}): Promise<ApiServer & { home: string; project: string }> {
  const user = await keelsonUser()
  Object.assign(user.env, env)
  const home = await realpath(user.home)
  const project = join(home, 'project')
  await mkdir(join(project, '.git'), { recursive: true })
  await mkdir(join(home, '.cursor'))
  const server = await startApi({ user })
  const built = await server.ask('POST', `${SKILLS}/build`, { path: join(fixtures, 'haiku-writer') })
  expect(built.status).toBe(200)
  return { ...server, home, project }
}

/** A registry that answers everything with one status. */
async function registry(status: number): Promise<string> {
  const server = createServer((_, response) => void response.writeHead(status).end())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const HAIKU = { name: 'haiku-writer', allow_unsigned: true }

test('a skill is installed, listed, shown and removed', async () => {
  const { ask, home } = await api()

  const made = await ask('POST', SKILLS, HAIKU)
  expect(made.status).toBe(201)
  expect(made.headers.get('location')).toBe(`${SKILLS}/haiku-writer`)
  const { skill, unsigned } = made.json() as { skill: object; unsigned: boolean }
  expect(skill).toMatchObject({
    metadata: { name: 'haiku-writer' },
    scope: 'user',
    status: 'installed',
    clients: ['cursor'],
    managed: false,
  })
  expect(unsigned).toBe(true)
  expect(await readFile(join(home, '.cursor/skills/haiku-writer/SKILL.md'), 'utf8')).toContain('haiku')

  expect((await ask('POST', SKILLS, HAIKU)).json()).toEqual({ skill, unsigned }) // again is a no-op
  expect((await ask('GET', `${SKILLS}/`)).json()).toEqual({ skills: [skill] })
  expect((await ask('GET', `${SKILLS}/haiku-writer`)).json()).toMatchObject({
    installed_skill: skill,
    unsigned,
  })
  const gone = await ask('DELETE', `${SKILLS}/haiku-writer`)
  expect([gone.status, gone.text]).toEqual([204, ''])
  expect((await ask('GET', SKILLS)).json()).toEqual({ skills: [] })
}, 180_000)

test('filters of the list are combined', async () => {
  const { ask, project } = await api()
  await ask('POST', SKILLS, HAIKU)
  await ask('POST', SKILLS, { ...HAIKU, project_root: project })
  const scopes = async (query: string) => {
    const answer = await ask('GET', `${SKILLS}?${query}`)
    return (answer.json() as { skills: { scope: string }[] }).skills.map(({ scope }) => scope).sort()
  }

  expect(await scopes('')).toEqual(['project', 'user'])
  expect(await scopes('scope=user')).toEqual(['user'])
  expect(await scopes('scope=project')).toEqual(['project'])
  expect(await scopes(`project_root=${project}`)).toEqual(['project'])
  expect(await scopes('client=cursor&group=default')).toEqual(['project', 'user'])
  expect(await scopes('client=kiro')).toEqual([])
}, 180_000)

test('a project: installed, in step, out of step, synced, upgraded', async () => {
  const { ask, project } = await api()
  const sync = async (body = {}) =>
    (await ask('POST', `${SKILLS}/sync`, { project_root: project, ...body })).json()
  const upgrade = async (body = {}) =>
    (await ask('POST', `${SKILLS}/upgrade`, { project_root: project, ...body })).json()

  const { skill } = (await ask('POST', SKILLS, { ...HAIKU, scope: 'project', project_root: project })).json()
  expect(skill).toMatchObject({ scope: 'project', project_root: project, managed: true })
  expect(await sync()).toEqual({ already_current: ['haiku-writer'] })
  await writeFile(join(project, '.cursor/skills/haiku-writer/SKILL.md'), 'edited')
  expect(await sync({ check: true })).toEqual({ drifted: ['haiku-writer'] })
  expect(await sync()).toMatchObject({ failed: [{ name: 'haiku-writer', reason: 'validation-rejected' }] })
  expect(await sync({ force: true })).toEqual({ drifted: ['haiku-writer'], installed: ['haiku-writer'] })
  expect(await upgrade()).toMatchObject({ outcomes: [{ name: 'haiku-writer', status: 'up-to-date' }] })
}, 180_000)

test('every refusal has its status', async () => {
  const hosts = new Map<number, string>()
  for (const status of [401, 403, 404, 429, 500]) hosts.set(status, await registry(status))
  const { ask, home, project } = await api({ KEELSON_INSECURE_REGISTRIES: [...hosts.values()].join(',') })
  await mkdir(join(home, 'no-git'))
  const bare = join(home, 'bare')
  await mkdir(join(bare, '.git'), { recursive: true })
  await symlink(project, join(home, 'linked'))
  await ask('POST', `${SKILLS}/build`, { path: join(fixtures, 'haiku-writer'), tag: 'other-name' })
  await ask('POST', SKILLS, { ...HAIKU, project_root: project })
  await mkdir(join(home, '.kiro/skills/haiku-writer'), { recursive: true })
  const from = (status: number) => ({ name: `${hosts.get(status)}/acme/x:1`, allow_unsigned: true })

  const cases: readonly (readonly [status: number, method: string, path: string, body?: unknown])[] = [
    [400, 'POST', '', {}],
    [400, 'POST', '', { name: 'UPPER CASE' }],
    [400, 'POST', '', '{'],
    [400, 'POST', '', { ...HAIKU, scope: 'team' }],
    [400, 'POST', '', { ...HAIKU, scope: 'project' }],
    [400, 'POST', '', { ...HAIKU, scope: 'user', project_root: project }],
    [400, 'POST', '', { ...HAIKU, project_root: 'relative' }],
    [400, 'POST', '', { ...HAIKU, project_root: `${project}/../project` }],
    [400, 'POST', '', { ...HAIKU, project_root: join(home, 'nowhere') }],
    [400, 'POST', '', { ...HAIKU, project_root: join(home, 'no-git') }],
    [400, 'POST', '', { ...HAIKU, project_root: join(home, 'linked') }],
    [400, 'POST', '', { ...HAIKU, project_root: `${project}\0` }],
    [400, 'POST', '', { ...HAIKU, clients: ['zed'] }],
    [400, 'POST', '', { ...HAIKU, clients: ['all', 'cursor'] }],
    [400, 'POST', '', { name: 'git://127.0.0.1/acme/skills' }],
    [401, 'POST', '', from(401)],
    [401, 'POST', '', from(403)],
    [403, 'POST', '', { name: 'haiku-writer' }],
    [404, 'POST', '', { name: 'no-such-skill' }],
    [404, 'POST', '', { ...HAIKU, group: 'nobody' }],
    [404, 'POST', '', from(404)],
    [409, 'POST', '', { ...HAIKU, clients: ['kiro'] }],
    [422, 'POST', '', { name: 'other-name', allow_unsigned: true }],
    [429, 'POST', '', from(429)],
    [502, 'POST', '', from(500)],
    [400, 'GET', '?scope=team'],
    [400, 'GET', '?project_root=relative'],
    [404, 'GET', '?group=nobody'],
    [400, 'GET', '/UPPER'],
    [404, 'GET', '/nothing'],
    [404, 'GET', `/haiku-writer?scope=user`],
    [400, 'DELETE', '/UPPER'],
    [400, 'DELETE', '/haiku-writer?scope=project'],
    [404, 'DELETE', '/nothing'],
    [400, 'POST', '/sync', {}],
    [404, 'POST', '/sync', { project_root: bare, frozen: true }],
    [400, 'POST', '/upgrade', {}],
    [404, 'POST', '/upgrade', { project_root: project, names: ['nothing'] }],
  ]
  for (const [status, method, path, body] of cases) {
    const answer = await ask(method, `${SKILLS}${path}`, body)
    expect(answer.status, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`).toBe(status)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
  }

  await writeFile(join(project, '.cursor/skills/haiku-writer/SKILL.md'), 'edited')
  expect((await ask('DELETE', `${SKILLS}/haiku-writer?project_root=${project}`)).status).toBe(409)
  await writeFile(join(project, 'keelson.lock.yaml'), 'version: 9\n')
  expect((await ask('POST', `${SKILLS}/sync`, { project_root: project })).status).toBe(400)
  expect((await ask('GET', `${SKILLS}?project_root=${project}`)).json()).toMatchObject({ skills: [{}] })
}, 180_000)

test('without a client application that reads skills, none can be installed', async () => {
  const user = await keelsonUser()
  const { ask } = await startApi({ user })
  await ask('POST', `${SKILLS}/build`, { path: join(fixtures, 'haiku-writer') })

  const answer = await ask('POST', SKILLS, HAIKU)

  expect(answer.status).toBe(400)
  expect(answer.text).toContain('No client application')
}, 180_000)

test('a registry that never responds is 504, for looking and for installing', async () => {
  const silent = createServer(() => undefined)
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void silent.closeAllConnections())
  onTestFinished(() => void silent.close())
  const { port } = silent.address() as AddressInfo
  const host = `127.0.0.1:${port}`
  const { ask } = await api({ KEELSON_INSECURE_REGISTRIES: host })
  const reference = `${host}/acme/x:1`

  const answers = await Promise.all([
    ask('POST', `${SKILLS}/content`, { ref: reference }),
    ask('POST', SKILLS, { name: reference, allow_unsigned: true }),
  ])

  expect(answers.map(({ status }) => status)).toEqual([504, 504])
  expect(answers[1]?.text).toContain(host)
}, 180_000)
