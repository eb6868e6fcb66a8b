import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { gitRepository, type Member } from './git-repository.ts'
import { gitServer } from './git-server.ts'
import { filesOf, SKILL, skillFile, skillSources } from './skill-sources.ts'

/** A repository with one commit, its server, and sources that may use it. */
async function published(files: Record<string, Member> = { 'SKILL.md': SKILL }, options?: { old: boolean }) {
  const root = await temporaryFolder()
  const repository = await gitRepository(root)
  const commit = await repository.commit(files)
  const server = await gitServer(root, options)
  const sources = await skillSources({ hosts: [server.host] })
  return { root, repository, commit, server, sources, address: `git://${server.host}/acme/skills` }
}

test('a skill at the top of a repository is fetched from its default branch', async () => {
  const { sources, address, commit } = await published({ 'SKILL.md': SKILL, 'ref/more.md': 'more\r\n' })
  const skill = await sources.get(address)
  expect(skill).toMatchObject({
    manifest: { name: 'a-skill', description: 'How to do a-skill' },
    reference: address,
    digest: commit,
    resolvedReference: `${address}@${commit}`,
    contentDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
  })
  expect(await filesOf(skill.folder)).toEqual({ 'SKILL.md': SKILL, 'ref/more.md': 'more\r\n' })
})

test('a folder of a repository is fetched without the rest', async () => {
  const { sources, address, commit } = await published({
    'skills/one/SKILL.md': skillFile('one'),
    'skills/one-more/SKILL.md': skillFile('one-more'),
    'README.md': 'not part of it',
  })
  const skill = await sources.get(`${address}#skills/one`)
  expect(skill.resolvedReference).toBe(`${address}@${commit}#skills/one`)
  expect(await filesOf(skill.folder)).toEqual({ 'SKILL.md': skillFile('one') })
})

test('what may be executed stays so, and nothing else becomes so', async () => {
  const { sources, address } = await published({
    'SKILL.md': SKILL,
    'run.sh': { mode: '100755', content: 'x' },
  })
  const { folder } = await sources.get(address)
  expect((await stat(join(folder, 'run.sh'))).mode & 0o777).toBe(0o755)
  expect((await stat(join(folder, 'SKILL.md'))).mode & 0o777).toBe(0o644)
})

test.each(['topic/a', 'refs/heads/topic/a'])('a branch is fetched as %s', async ref => {
  const { sources, address, repository } = await published()
  const commit = await repository.commit({ 'SKILL.md': skillFile('topic') }, 'topic/a')
  expect(await sources.get(`${address}@${ref}`)).toMatchObject({
    digest: commit,
    manifest: { name: 'topic' },
  })
})

test.each(['v1.2.0', '1.2.0', 'release-1'])('the tag %s is fetched, however it is spelled', async tag => {
  const { sources, address, repository, commit } = await published()
  await repository.annotate(tag, commit)
  await repository.commit({ 'SKILL.md': skillFile('newer') })
  expect(await sources.get(`${address}@${tag}`)).toMatchObject({
    digest: commit,
    manifest: { name: 'a-skill' },
  })
})

test('a tag wins over a branch of the same name', async () => {
  const { sources, address, repository, commit } = await published()
  await repository.commit({ 'SKILL.md': skillFile('branch') }, '1.0')
  await repository.point('refs/tags/1.0', commit)
  expect((await sources.get(`${address}@1.0`)).digest).toBe(commit)
})

test('a commit is fetched though branches have moved on', async () => {
  const { sources, address, repository, commit } = await published()
  await repository.commit({ 'SKILL.md': skillFile('newer') })
  expect(await sources.get(`${address}@${commit}`)).toMatchObject({
    digest: commit,
    manifest: { name: 'a-skill' },
  })
})

test('a commit is fetched from a host that gives out branches and tags only', async () => {
  const { sources, address, repository, commit, server } = await published(undefined, { old: true })
  await repository.commit({ 'SKILL.md': skillFile('newer') })
  expect((await sources.get(`${address}@${commit}`)).digest).toBe(commit)
  expect(server.asked.filter(({ path }) => path.includes('info/refs'))).toHaveLength(2)
})

test('a resolved reference gets the same bytes after the tag has moved', async () => {
  const { sources, address, repository, commit } = await published()
  await repository.point('refs/tags/v1', commit)
  const before = await sources.get(`${address}@v1`)
  await repository.point('refs/tags/v1', await repository.commit({ 'SKILL.md': skillFile('other') }))
  const after = await sources.get(before.resolvedReference ?? '')
  expect(after.contentDigest).toBe(before.contentDigest)
  expect((await sources.get(`${address}@v1`)).contentDigest).not.toBe(before.contentDigest)
})

test('a preview shows the body behind the frontmatter and the files in order, and leaves nothing', async () => {
  const { sources, address } = await published({ 'b.txt': '12', 'SKILL.md': SKILL, 'a/c.txt': '' })
  expect(await sources.preview(address)).toEqual({
    name: 'a-skill',
    description: 'How to do a-skill',
    body: 'Do it.\n',
    files: [
      { path: 'SKILL.md', size: Buffer.byteLength(SKILL) },
      { path: 'a/c.txt', size: 0 },
      { path: 'b.txt', size: 2 },
    ],
  })
  expect(await sources.left()).toEqual([])
})

test('progress shows what is fetched, and how far it is', async () => {
  const { sources, address } = await published()
  const told: string[] = []
  await sources.get(address, { progress: what => told.push(what) })
  expect(told[0]).toBe(`fetching ${address}`)
  expect(told).toContain(`fetching ${address}: 100%`)
  expect(told.at(-1)).toBe(`reading ${address}`)
})
