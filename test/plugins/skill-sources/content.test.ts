import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { startDockerRegistry } from '../../support/docker-registry.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { registryServer } from '../../support/registry-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { ociClient } from '../oci/oci-client.ts'
import { gitRepository } from './git-repository.ts'
import { gitServer } from './git-server.ts'
import { pushArtifact } from './skill-artifact.ts'
import { SKILL, skillFile } from './skill-sources.ts'

const path = '/api/v1beta/skills/content'

/** A git host with one skill, and a user who may reach it. */
async function world(files = { 'SKILL.md': SKILL, 'ref/more.md': 'more' }) {
  const root = await temporaryFolder()
  await (await gitRepository(root)).commit(files)
  const { host } = await gitServer(root)
  const user = await keelsonUser()
  user.env.KEELSON_PRIVATE_GIT_HOSTS = host
  return { user, host, address: `git://${host}/acme/skills` }
}

const content = {
  name: 'a-skill',
  description: 'How to do a-skill',
  body: 'Do it.\n',
  files: [
    { path: 'SKILL.md', size: Buffer.byteLength(SKILL) },
    { path: 'ref/more.md', size: 4 },
  ],
}

test('skill content shows what a skill says and what is in it', async () => {
  const { user, address } = await world()
  const text = await user.run(['skill', 'content', address])
  expect(text).toMatchObject({ code: 0, stderr: expect.stringContaining(`fetching ${address}`) })
  expect(text.stdout).toBe(
    [
      'Name: a-skill',
      'Description: How to do a-skill',
      '',
      'FILE          BYTES',
      `SKILL.md      ${Buffer.byteLength(SKILL)}`,
      'ref/more.md   4',
      '',
      'Do it.',
      '',
    ].join('\n'),
  )
  const json = await user.run(['skill', 'content', address, '--format', 'json'])
  expect(JSON.parse(json.stdout)).toEqual(content)
})

test('the text of a skill cannot steer the terminal', async () => {
  const { user, address } = await world({
    'SKILL.md': skillFile('a-skill', '\x1b[2J\x1b]0;evil\x07a\tb\r\nc\n'),
    'ref/more.md': '',
  })
  const { code, stdout } = await user.run(['skill', 'content', address])
  expect(code).toBe(0)
  expect(stdout).toContain('a\tb\nc\n')
  for (const character of ['\x1b', '\x07', '\r']) expect(stdout).not.toContain(character)
})

test('skill content fails in one line for what cannot be fetched', async () => {
  const { user, address } = await world()
  expect(await user.run(['skill', 'content', `${address}@nowhere`])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^fetching .*\nError: .*no branch, tag or commit "nowhere"\.\n$/),
  })
})

test('the API shows a repository, an artifact and a local build in the same way', async () => {
  const { user, address } = await world()
  const registry = await startDockerRegistry()
  try {
    const reference = `${registry.host}/acme/a-skill:1`
    await pushArtifact(ociClient(), reference, { 'SKILL.md': SKILL, 'ref/more.md': 'more' })
    const api = await startApi({ user })
    for (const ref of [address, address.replace('git:', 'https:'), reference]) {
      const query = `${path}?${new URLSearchParams({ ref })}`
      for (const answer of [
        await api.ask('POST', path, { ref }),
        await api.ask('GET', query, undefined, { 'x-keelson-client': '' }),
      ]) {
        expect(answer.status).toBe(200)
        expect(answer.json()).toEqual(content)
      }
      expect((await api.ask('GET', query)).status).toBe(403)
    }
    expect([...api.succeeded].sort()).toEqual(['fetchSkillContent', 'getSkillContent'])
  } finally {
    await registry.stop()
  }
})

test('the API responds with the status of what went wrong', async () => {
  const { user, address } = await world()
  const oci = await registryServer((_, response, url) => {
    response.writeHead(Number(/status-(\d+)/.exec(url.pathname)?.[1] ?? 404)).end()
  })
  const artifact = (status: number) => `${oci.url.slice('http://'.length)}/status-${status}/a-skill:1`
  const api = await startApi({ user })
  const wanted: [string, number][] = [
    ['', 400],
    ['a b', 400],
    ['git://10.0.0.1/a/b', 400],
    ['git://127.0.0.1:1/a/b', 400],
    ['file:///etc/passwd', 400],
    ['no-such-skill', 404],
    [artifact(401), 401],
    [artifact(403), 401],
    [artifact(404), 404],
    [artifact(429), 429],
    [artifact(418), 502],
    [`${address}@nowhere`, 404],
    [`${address}#nowhere`, 422],
  ]
  for (const [ref, status] of wanted) {
    const answer = await api.ask('POST', path, { ref })
    expect({ ref, status: answer.status }).toEqual({ ref, status })
  }
  expect((await api.ask('POST', path, {})).status).toBe(400)
})
