import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { registryServer } from '../../support/registry-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { gitRepository } from './git-repository.ts'
import { gitServer } from './git-server.ts'
import { SKILL, skillFile, skillSources } from './skill-sources.ts'

async function published(env: Record<string, string> = {}) {
  const root = await temporaryFolder()
  const repository = await gitRepository(root)
  await repository.commit({ 'SKILL.md': SKILL })
  const server = await gitServer(root)
  const sources = await skillSources({
    hosts: [server.host],
    env,
    timeouts: { gitMs: 60_000, ociMs: 60_000 },
  })
  return { root, repository, server, sources, address: `git://${server.host}/acme/skills` }
}

test.each([
  [401, 'skill_source_denied', 401, /gives no access/],
  [403, 'skill_source_denied', 401, /gives no access/],
  [404, 'skill_source_missing', 404, /has no repository acme\/skills/],
  [429, 'skill_source_busy', 429, /status 429/],
  [500, 'skill_source_failed', 502, /status 500/],
  [503, 'skill_source_failed', 502, /status 503/],
])('a git host that responds with %i fails with %s', async (status, code, ours, text) => {
  const { server, sources, address } = await published()
  server.answer((_, response) => {
    response.writeHead(status, status === 401 ? { 'www-authenticate': 'Basic realm="x"' } : {}).end()
    return true
  })
  const wanted = { code, status: ours, message: expect.stringMatching(text) }
  await expect(sources.get(address)).rejects.toMatchObject(wanted)
  expect(await sources.left()).toEqual([])
})

test.each([
  ['a branch', 'nowhere', /no branch, tag or commit "nowhere"/],
  ['a commit', 'f'.repeat(40), /f{40}/],
])('%s that is not there is 404', async (_, ref, text) => {
  const { sources, address } = await published()
  await expect(sources.get(`${address}@${ref}`)).rejects.toMatchObject({
    code: 'skill_source_missing',
    message: expect.stringMatching(text),
  })
})

test('the failure of an abbreviated commit says how to write it', async () => {
  const { sources, address } = await published()
  await expect(sources.get(`${address}@abc1234`)).rejects.toMatchObject({
    hint: expect.stringContaining('40 digits'),
  })
})

test('a repository whose skills lie in folders names them', async () => {
  const { sources, address, repository } = await published()
  await repository.commit({ 'skills/one/SKILL.md': skillFile('one'), 'two/SKILL.md': skillFile('two') })
  const wanted = { code: 'skill_content_refused', hint: expect.stringContaining('skills/one, two') }
  await expect(sources.get(address)).rejects.toMatchObject(wanted)
  await expect(sources.get(`${address}#three`)).rejects.toMatchObject({
    ...wanted,
    message: expect.stringContaining('there is no folder three'),
  })
})

test('a page that is not git holds nothing', async () => {
  const { server, sources, address } = await published()
  server.answer((_, response) => {
    response.end('<html>hello</html>')
    return true
  })
  await expect(sources.get(address)).rejects.toMatchObject({
    code: 'skill_source_missing',
    message: expect.stringContaining('or there is no repository'),
  })
})

test('a host that is not there is 502', async () => {
  const gone = await registryServer()
  await gone.stop()
  const host = gone.url.slice('http://'.length)
  const sources = await skillSources({ hosts: [host] })
  await expect(sources.get(`git://${host}/acme/skills`)).rejects.toMatchObject({
    code: 'skill_source_failed',
    message: expect.stringContaining('it refuses connections'),
  })
  expect(await sources.left()).toEqual([])
})

test('a name that does not exist is 502', async () => {
  const sources = await skillSources()
  await expect(sources.get('git://keelson.invalid/acme/skills')).rejects.toMatchObject({
    code: 'skill_source_failed',
    message: expect.stringContaining('its name cannot be resolved'),
  })
})

test('without git the failure says so', async () => {
  const { sources, address } = await published({ PATH: '/nonexistent' })
  await expect(sources.get(address)).rejects.toMatchObject({ code: 'git_missing' })
  expect(await sources.left()).toEqual([])
})

test.each([
  'localhost',
  '127.0.0.1:3000',
  '127.1',
  '0x7f000001',
  '2130706433',
  '10.1.2.3',
  '169.254.169.254',
  '[::1]',
  '[fd00::1]',
  'a.localhost',
  '100.64.0.1',
])('the host %s is refused unless the user names it', async host => {
  const sources = await skillSources()
  await expect(sources.get(`git://${host}/acme/skills`)).rejects.toMatchObject({
    code: 'skill_host_refused',
    status: 400,
  })
  expect(await sources.left()).toEqual([])
})

test('a redirect to another host goes nowhere', async () => {
  const { server, address } = await published()
  const other = await registryServer()
  const env = { GIT_TOKEN: 'a-token', GIT_TOKEN_HOSTS: server.host }
  const sources = await skillSources({ hosts: [server.host], env })
  server.answer((request, response) => {
    response.writeHead(302, { location: `${other.url}${request.url}` }).end()
    return true
  })
  await expect(sources.get(address)).rejects.toMatchObject({
    code: 'skill_source_failed',
    message: expect.stringContaining('it redirects to another host'),
  })
  expect(other.asked).toEqual([])
})

test('a redirect to a file is not followed', async () => {
  const { server, sources, address, repository } = await published()
  server.answer((_, response) => {
    response.writeHead(302, { location: `file://${repository.folder}` }).end()
    return true
  })
  await expect(sources.get(address)).rejects.toMatchObject({ code: 'skill_source_failed' })
})

test('a repository that has moved on the same host is followed', async () => {
  const { server, sources, address } = await published()
  server.answer((request, response) => {
    if (!request.url?.startsWith('/old/')) return false
    response
      .writeHead(301, { location: `http://${server.host}${request.url.replace('/old/', '/acme/')}` })
      .end()
    return true
  })
  expect((await sources.get(address.replace('/acme/', '/old/'))).manifest.name).toBe('a-skill')
})

test.each([
  [{ GIT_TOKEN: 'a-token', GIT_TOKEN_HOSTS: 'git.example.com, THERE' }, 'a-token'],
  [{ GIT_TOKEN: 'git.example.com=another,THERE=a-token==' }, 'a-token=='],
  [{ GIT_TOKEN: 'git.example.com=another,THERE=a-token', GIT_TOKEN_HOSTS: 'git.example.com' }, 'a-token'],
  [{ GIT_TOKEN: 'c2VjcmV0cw==', GIT_TOKEN_HOSTS: 'THERE' }, 'c2VjcmV0cw=='],
  [{ GIT_TOKEN: 'unbound' }, undefined],
  [{ GIT_TOKEN: 'unbound', GIT_TOKEN_HOSTS: '' }, undefined],
  [{ GIT_TOKEN: 'of-another-port', GIT_TOKEN_HOSTS: '127.0.0.1' }, undefined],
  [{ GIT_TOKEN: 'git.example.com=another', GIT_TOKEN_HOSTS: 'THERE' }, undefined],
  [{ GITHUB_TOKEN: 'of-github', GITLAB_TOKEN: 'of-gitlab' }, undefined],
] as [Record<string, string>, string | undefined][])('with %o this host gets %s', async (given, token) => {
  const env: Record<string, string> = {}
  const { server, address } = await published()
  for (const [name, value] of Object.entries(given)) env[name] = value.replace('THERE', server.host)
  const sources = await skillSources({ hosts: [server.host], env })
  await sources.get(address)
  const header = token && `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
  expect(new Set(server.asked.map(({ authorization }) => authorization))).toEqual(new Set([header]))

  const before = server.asked.length
  await sources.get(address, { typed: false })
  const untyped = server.asked.slice(before).map(({ authorization }) => authorization)
  expect(new Set(untyped)).toEqual(new Set([undefined]))
})

test.each([
  [{}, true, 'set GIT_TOKEN, and name THERE in GIT_TOKEN_HOSTS'],
  [
    { GIT_TOKEN: 'unbound' },
    true,
    'GIT_TOKEN was not sent, since it is not bound to this host: name THERE in GIT_TOKEN_HOSTS',
  ],
  [{ GIT_TOKEN: 'wrong', GIT_TOKEN_HOSTS: 'THERE' }, true, 'what the token for this host may read'],
  [{ GIT_TOKEN: 'fine', GIT_TOKEN_HOSTS: 'THERE' }, false, 'only sent for a reference that you type'],
] as [Record<string, string>, boolean, string][])(
  'the failure of a private repository with %o, typed: %s, says what to do',
  async (given, typed, advice) => {
    const { server, address } = await published()
    server.answer((_, response) => Boolean(response.writeHead(401, { 'www-authenticate': 'Basic' }).end()))
    const env = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, value.replace('THERE', server.host)]),
    )
    const sources = await skillSources({ hosts: [server.host], env })
    await expect(sources.get(address, { typed })).rejects.toMatchObject({
      code: 'skill_source_denied',
      hint: expect.stringContaining(advice.replace('THERE', server.host)),
    })
  },
)

test('a token is in no argument of git, and in no error', async () => {
  const token = 'a-token-that-nobody-sees'
  const { server, address } = await published()
  const env = { GIT_TOKEN: token, GIT_TOKEN_HOSTS: server.host }
  const sources = await skillSources({ hosts: [server.host], env })
  const seen: string[] = []
  server.answer((_, response) => {
    seen.push(execFileSync('ps', ['-eo', 'args']).toString())
    response.writeHead(403).end(`remote: ${token}`)
    return true
  })
  const error: unknown = await sources.get(address).catch(failed => failed)
  const encoded = Buffer.from(`x-access-token:${token}`).toString('base64')
  expect(error).toMatchObject({ code: 'skill_source_denied' })
  for (const text of [...seen, JSON.stringify(error), String(error)]) {
    expect(text).not.toContain(token)
    expect(text).not.toContain(encoded)
  }
  expect(seen.join()).toContain('git')
})

test('a host that never responds is given up after the time for it', async () => {
  const root = await temporaryFolder()
  const server = await gitServer(root)
  server.answer(() => true)
  const sources = await skillSources({ hosts: [server.host], timeouts: { gitMs: 500, ociMs: 60_000 } })
  await expect(sources.get(`git://${server.host}/acme/skills`)).rejects.toMatchObject({
    code: 'skill_source_timeout',
    status: 504,
  })
  expect(await sources.left()).toEqual([])
})

test('cancelling ends git with all that it has started, and leaves nothing', async () => {
  const { server, sources, address } = await published()
  const cancel = new AbortController()
  const asked = new Promise<void>(resolve => {
    server.answer(request => {
      request.on('close', () => closed.resolve())
      resolve()
      return true
    })
  })
  const closed = Promise.withResolvers<void>()
  const reason = new Error('cancelled by the test')
  const getting = sources.get(address, { signal: cancel.signal })
  getting.catch(() => undefined)
  await asked
  const before = gitProcesses(server.host)
  cancel.abort(reason)
  await expect(getting).rejects.toBe(reason)
  await closed.promise
  expect(before.length).toBeGreaterThan(0)
  expect(gitProcesses(server.host)).toEqual([])
  expect(await sources.left()).toEqual([])
})

/** Processes with this host in their arguments, as only those of one test have. */
function gitProcesses(host: string): string[] {
  const lines = execFileSync('ps', ['-eo', 'stat=,args=']).toString().split('\n')
  return lines.filter(line => line.includes(host) && line.includes('git') && !line.startsWith('Z'))
}
