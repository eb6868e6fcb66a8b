import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { gitRepository, type Member, type Repository, type TreeEntry } from './git-repository.ts'
import { gitServer } from './git-server.ts'
import { filesOf, SKILL, skillFile, skillSources } from './skill-sources.ts'

/** An empty repository, and what is asked of it over HTTP. */
async function hostile(env: Record<string, string> = {}) {
  const root = await temporaryFolder()
  const repository = await gitRepository(root)
  const server = await gitServer(root)
  const sources = await skillSources({ hosts: [server.host], env })
  return { root, repository, server, sources, address: `git://${server.host}/acme/skills` }
}

type Hostile = Awaited<ReturnType<typeof hostile>>

async function expectRefused({ sources, address }: Hostile, reason: RegExp, suffix = ''): Promise<void> {
  const wanted = { status: 422, message: expect.stringMatching(reason) }
  await expect(sources.get(`${address}${suffix}`)).rejects.toMatchObject(wanted)
  expect(await sources.left()).toEqual([])
}

const link = (content: string): Member => ({ mode: '120000', content })
const submodule: Member = { mode: '160000', content: '1'.repeat(40) }
/** Names are written byte by byte. */
const utf8 = (name: string) => Buffer.from(name).toString('latin1')
const many = (count: number, path: (i: number) => string, content: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [path(i), content]))

test.each<[string, Record<string, Member>, RegExp]>([
  [
    'a link out of the folder',
    { 'SKILL.md': SKILL, secrets: link('/etc/passwd') },
    /"secrets" is refused: it is a link/,
  ],
  [
    'a link inside the folder',
    { 'SKILL.md': SKILL, 'a.md': link('SKILL.md') },
    /"a\.md" is refused: it is a link/,
  ],
  [
    'a link to nothing',
    { 'SKILL.md': SKILL, 'a/b/c': link('nowhere') },
    /"a\/b\/c" is refused: it is a link/,
  ],
  [
    'a SKILL.md that is a link',
    { 'SKILL.md': link('real.md'), 'real.md': SKILL },
    /"SKILL\.md" is refused: it is a link/,
  ],
  ['a submodule', { 'SKILL.md': SKILL, more: submodule }, /"more" is refused: it is a submodule/],
  [
    'a submodule whose address is a command',
    {
      'SKILL.md': SKILL,
      '.gitmodules': '[submodule "x"]\n path = x\n url = ext::sh -c touch% x\n',
      x: submodule,
    },
    /"x" is refused: it is a submodule/,
  ],
  ['a SKILL.md that is a submodule', { 'SKILL.md': submodule }, /is a submodule/],
  ['a SKILL.md that is a folder', { 'SKILL.md/x': SKILL }, /there is no SKILL\.md in the top folder/],
  ['a skill.md in lower case', { 'skill.md': SKILL }, /there is no SKILL\.md/],
  [
    'names that differ by case',
    { 'SKILL.md': SKILL, 'skill.md': 'x' },
    /on some file systems it is the same as/,
  ],
  [
    'folders that differ by case',
    { 'SKILL.md': SKILL, 'A/x': 'x', 'a/y': 'y' },
    /on some file systems it is the same as/,
  ],
  [
    'names that differ by composition',
    { 'SKILL.md': SKILL, [utf8('e\u0301')]: 'x', [utf8('é')]: 'y' },
    /on some file systems it is the same as/,
  ],
  ['a backslash in a name', { 'SKILL.md': SKILL, '..\\..\\x': 'x' }, /it has a backslash/],
  ['a drive in a name', { 'SKILL.md': SKILL, 'C:/x': 'x' }, /it is absolute/],
  ['a line break in a name', { 'SKILL.md': SKILL, 'a\nb': 'x' }, /it has control characters/],
  ['an escape sequence in a name', { 'SKILL.md': SKILL, '\x1b[2Ja': 'x' }, /"\\u[^"]*\[2Ja" is refused/],
  ['a name that is not UTF-8', { 'SKILL.md': SKILL, '\xff\xfe': 'x' }, /it is not UTF-8/],
  ['a name of 256 bytes', { 'SKILL.md': SKILL, ['x'.repeat(256)]: 'x' }, /longer than 255 bytes/],
  [
    'a path of more than 1024 bytes',
    { 'SKILL.md': SKILL, [`${'x/'.repeat(600)}x`]: 'x' },
    /longer than 1024 bytes/,
  ],
  ['70 levels of folders', { 'SKILL.md': SKILL, [`${'x/'.repeat(70)}x`]: 'x' }, /nested too deep/],
  ['1001 files', { 'SKILL.md': SKILL, ...many(1000, i => `f${i}`, 'x') }, /more than 1000 files/],
  [
    '20000 files',
    { 'SKILL.md': SKILL, ...many(20_000, i => `folder/file-number-${i}`, 'x') },
    /more than 1000 files/,
  ],
  [
    '101 MiB in few bytes',
    { 'SKILL.md': SKILL, ...many(101, i => `f${i}`, 'x'.repeat(1024 * 1024)) },
    /more than 100 MiB/,
  ],
  ['a SKILL.md that is not UTF-8', { 'SKILL.md': Buffer.from(`${SKILL}\xff\xfe`, 'latin1') }, /UTF-8/],
  ['an empty SKILL.md', { 'SKILL.md': '' }, /SKILL\.md/],
  ['a SKILL.md of 2 MiB', { 'SKILL.md': SKILL + 'x'.repeat(2 * 1024 * 1024) }, /SKILL\.md/],
  ['an endless frontmatter', { 'SKILL.md': `---\nname: a\n${'x: y\n'.repeat(20_000)}` }, /SKILL\.md/],
  ['a name that leads elsewhere', { 'SKILL.md': skillFile('../../x') }, /name/],
  ['a name in capitals', { 'SKILL.md': skillFile('Skill') }, /name/],
])('a repository with %s is refused, and leaves nothing', async (_, files, reason) => {
  const world = await hostile()
  await world.repository.commit(files)
  await expectRefused(world, reason)
})

/** A commit whose tree git itself would not make. */
async function commitEntries(repository: Repository, entries: (blob: string) => readonly TreeEntry[]) {
  const blob = await repository.store('blob', SKILL)
  const listed = [{ mode: '100644', name: 'SKILL.md', object: blob }, ...entries(blob)]
  await repository.commitTree(await repository.store('tree', listed))
}

test.each<[string, string, RegExp]>([
  ['..', '100644', /it has the part "\.\."/],
  ['.', '100644', /it has the part "\."/],
  ['.git', '100644', /it belongs to a git repository/],
  ['.GIT', '100644', /it belongs to a git repository/],
  ['git~1', '100644', /it belongs to a git repository/],
  ['.git ', '100644', /it belongs to a git repository/],
  ['../../escape', '100644', /it has the part "\.\."/],
  ['/etc/escape', '100644', /it is absolute/],
  ['SKILL.md', '100644', /it is the same as "SKILL\.md"/],
  ['pipe', '010644', /it is (not an ordinary file|a submodule)/],
  ['device', '020644', /it is (not an ordinary file|a submodule)/],
])('a tree with the entry "%s" of the mode %s is refused', async (name, mode, reason) => {
  const world = await hostile()
  await commitEntries(world.repository, object => [{ mode, name, object }])
  await expectRefused(world, reason)
})

test('a tree that unfolds to ten thousand million files is refused before it unfolds', async () => {
  const world = await hostile()
  const { repository } = world
  let tree = await repository.store('tree', [
    { mode: '100644', name: 'SKILL.md', object: await repository.store('blob', SKILL) },
  ])
  for (let level = 0; level < 10; level++) {
    const object = tree
    const entries = Array.from({ length: 10 }, (_, i) => ({ mode: '40000', name: `d${i}`, object }))
    tree = await repository.store('tree', entries)
  }
  await repository.commitTree(tree)
  await expectRefused(world, /more than 1000 files/)
})

test('a tag of something other than a commit is not found', async () => {
  const { repository, sources, address } = await hostile()
  await repository.commit({ 'SKILL.md': SKILL })
  await repository.point('refs/tags/v1', await repository.store('blob', SKILL))
  await expect(sources.get(`${address}@v1`)).rejects.toMatchObject({ code: 'skill_source_missing' })
  expect(await sources.left()).toEqual([])
})

test('an empty repository has nothing to fetch', async () => {
  const { sources, address } = await hostile()
  await expect(sources.get(address)).rejects.toMatchObject({ code: 'skill_source_missing', status: 404 })
})

test('attributes and filters of a repository change nothing', async () => {
  const { repository, sources, address } = await hostile()
  const files = {
    '.gitattributes':
      '* filter=evil text eol=crlf ident working-tree-encoding=UTF-16\nhidden export-ignore\n',
    'SKILL.md': SKILL,
    'crlf.txt': 'a\r\nb\n$Id$\n',
    hidden: 'there all the same\n',
  }
  await repository.commit(files)
  expect(await filesOf((await sources.get(address)).folder)).toEqual(files)
})

test('links, submodules and odd names outside the folder of the skill do not matter', async () => {
  const { repository, sources, address } = await hostile()
  const skill = { 'skills/one/SKILL.md': skillFile('one') }
  await repository.commit({ ...skill, evil: link('/etc/passwd'), more: submodule, 'skills/two/a\\b': 'x' })
  expect(await filesOf((await sources.get(`${address}#skills/one`)).folder)).toEqual({
    'SKILL.md': skillFile('one'),
  })
})

test.each(['link', 'more'])('a folder that is really a link or a submodule (%s) is not there', async path => {
  const world = await hostile()
  await world.repository.commit({ 'real/SKILL.md': SKILL, link: link('real'), more: submodule })
  await expectRefused(world, /there is no folder/, `#${path}`)
})

test("nothing that the user's environment or configuration tells git to run is run", async () => {
  const home = await temporaryFolder()
  const marks = join(home, 'marks')
  const script = join(home, 'evil')
  await mkdir(marks)
  await writeFile(script, `#!/bin/sh\ntouch "${marks}/$(basename "$0")-$$"\nexit 1\n`)
  await chmod(script, 0o755)
  const hooks = ['post-checkout', 'reference-transaction', 'post-index-change', 'proc-receive']
  await mkdir(join(home, 'template', 'hooks'), { recursive: true })
  for (const hook of hooks)
    await writeFile(join(home, 'template', 'hooks', hook), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const config = `
[init] templateDir = ${home}/template
[core] hooksPath = ${home}/template/hooks
 fsmonitor = ${script}
 gitProxy = ${script}
 askPass = ${script}
 sshCommand = ${script}
[credential] helper = ${script}
[filter "evil"] smudge = ${script}
 process = ${script}
[url "ext::${script}"] insteadOf = http://
[protocol] allow = always
[uploadpack] packObjectsHook = ${script}
`
  await writeFile(join(home, '.gitconfig'), config)
  await writeFile(join(home, '.netrc'), 'machine 127.0.0.1 login user password secret\n')
  const { repository, sources, address, server } = await hostile({
    HOME: home,
    XDG_CONFIG_HOME: home,
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
    GIT_CONFIG_SYSTEM: join(home, '.gitconfig'),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.hooksPath',
    GIT_CONFIG_VALUE_0: join(home, 'template', 'hooks'),
    GIT_CONFIG_PARAMETERS: `'core.hooksPath=${home}/template/hooks'`,
    GIT_TEMPLATE_DIR: join(home, 'template'),
    GIT_ASKPASS: script,
    SSH_ASKPASS: script,
    GIT_SSH_COMMAND: script,
    GIT_PROXY_COMMAND: script,
    GIT_EXTERNAL_DIFF: script,
    GIT_EXEC_PATH: home,
    GIT_DIR: '/nonexistent',
    GIT_WORK_TREE: '/nonexistent',
    GIT_OBJECT_DIRECTORY: '/nonexistent',
    GIT_TRACE: join(marks, 'trace'),
  })
  await repository.commit({ '.gitattributes': '* filter=evil\n', 'SKILL.md': SKILL })
  expect((await sources.get(address)).manifest.name).toBe('a-skill')
  server.answer((_, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    return true
  })
  await expect(sources.get(address)).rejects.toMatchObject({ code: 'skill_source_denied', status: 401 })
  expect(server.asked.map(({ authorization }) => authorization)).not.toContain(expect.any(String))
  expect(await readdir(marks)).toEqual([])
})

test('a preview refuses what an installation refuses, and leaves nothing', async () => {
  const { repository, sources, address } = await hostile()
  await repository.commit({ 'SKILL.md': SKILL, more: submodule })
  await expect(sources.preview(address)).rejects.toMatchObject({ status: 422 })
  expect(await sources.left()).toEqual([])
})
