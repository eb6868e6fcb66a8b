import { mkdir, readdir, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ALICE } from '../../../support/fake-skill-sources.ts'
import { type SkillsHome, skillsHome, USER } from '../skills-home.ts'

const REF = 'registry.test/skills/pdf:1'

/** A home folder where `pdf` is published. */
async function withPdf(): Promise<SkillsHome & { digest: string }> {
  const made = await skillsHome()
  const digest = await made.publish(REF, {
    name: 'pdf',
    version: '1.0.0',
    files: { 'scripts/fill.sh': '#!/bin/sh\necho filled\n' },
  })
  return { ...made, digest }
}

describe('install', () => {
  test('writes the skill for every client that is installed and reads skills', async () => {
    const { installer, tree } = await withPdf()

    const { skill } = await installer.install(USER, { reference: REF })

    expect(skill.clients).toEqual(['cursor', 'claude-code'])
    for (const client of ['.cursor', '.claude'])
      expect(Object.keys(await tree(`${client}/skills`))).toEqual(['pdf/SKILL.md', 'pdf/scripts/fill.sh'])
  })

  test('keeps who may run a file', async () => {
    const { installer, home } = await withPdf()

    await installer.install(USER, { reference: REF })

    const mode = async (path: string) => (await stat(join(home, '.cursor/skills/pdf', path))).mode & 0o777
    expect(await mode('scripts/fill.sh')).toBe(0o755)
    expect(await mode('SKILL.md')).toBe(0o644)
  })

  test('records it as the API shows it', async () => {
    const { installer, digest } = await withPdf()

    const details = await installer.install(USER, { reference: REF })

    expect(details).toEqual({
      skill: {
        metadata: { name: 'pdf', version: '1.0.0', description: 'Does what pdf does.', author: '' },
        scope: 'user',
        reference: REF,
        digest,
        status: 'installed',
        installed_at: '2026-05-04T03:02:01.000Z',
        clients: ['cursor', 'claude-code'],
        managed: false,
      },
      provenance: ALICE,
    })
    expect(await installer.get(USER, 'pdf')).toEqual(details)
    expect(await installer.list('all')).toEqual([details.skill])
  })

  test('in a project it goes into the project, and into its lock file', async () => {
    const { installer, project, read, tree, digest } = await withPdf()

    const { skill } = await installer.install(project, { reference: REF, clients: ['vscode'] })

    expect(skill).toMatchObject({ scope: 'project', project_root: project.root, managed: true })
    expect(Object.keys(await tree('project/.github/skills'))).toContain('pdf/SKILL.md')
    expect(await read('project/keelson.lock.yaml')).toContain(`digest: ${digest}`)
    expect(await tree('.copilot')).toEqual({})
  })

  test('clients that share a folder get one copy, and are all recorded', async () => {
    const { installer, home } = await withPdf()

    const { skill } = await installer.install(USER, {
      reference: REF,
      clients: ['codex', 'goose', 'amp-cli'],
    })

    expect(skill.clients).toEqual(['amp-cli', 'goose', 'codex'])
    expect(await readdir(join(home, '.agents/skills'))).toEqual(['pdf'])
  })

  test('again is a no-op: nothing is written', async () => {
    const { installer, home } = await withPdf()
    const first = await installer.install(USER, { reference: REF })
    const before = await stat(join(home, '.cursor/skills/pdf'))

    const second = await installer.install(USER, { reference: REF })

    expect(second).toEqual(first)
    expect((await stat(join(home, '.cursor/skills/pdf'))).ino).toBe(before.ino)
  })

  test('again for another client writes only there', async () => {
    const { installer, home, tree } = await withPdf()
    await installer.install(USER, { reference: REF, clients: ['cursor'] })
    const before = await stat(join(home, '.cursor/skills/pdf'))

    const { skill } = await installer.install(USER, { reference: REF, clients: ['kiro'] })

    expect(skill.clients).toEqual(['cursor', 'kiro'])
    expect((await stat(join(home, '.cursor/skills/pdf'))).ino).toBe(before.ino)
    expect(await tree('.kiro/skills')).toEqual(await tree('.cursor/skills'))
  })

  test('what was deleted comes back', async () => {
    const { installer, home, tree } = await withPdf()
    await installer.install(USER, { reference: REF })
    await rm(join(home, '.cursor/skills'), { recursive: true })

    await installer.install(USER, { reference: REF })

    expect(await tree('.cursor/skills')).toEqual(await tree('.claude/skills'))
  })

  test('without a client it fails', async () => {
    const { installer, home } = await withPdf()
    await rm(join(home, '.cursor'), { recursive: true })
    await rm(join(home, '.claude.json'))

    await expect(installer.install(USER, { reference: REF })).rejects.toMatchObject({
      code: 'skill_clients_missing',
    })
  })

  test.each([
    [['cursr'], '"cursr" is not a client that keelson knows. Did you mean cursor?'],
    [['zed'], 'Zed does not read skills.'],
    [['all', 'cursor'], '"all" cannot be mixed with names of clients.'],
    [[''], 'The name of a client is empty.'],
  ])('--clients %j is refused', async (clients, message) => {
    const { installer } = await withPdf()

    await expect(installer.install(USER, { reference: REF, clients })).rejects.toMatchObject({
      code: 'skill_client_invalid',
      message,
    })
  })
})

describe('another version', () => {
  test('is refused without --force, and nothing changes', async () => {
    const made = await withPdf()
    await made.installer.install(USER, { reference: REF })
    const before = await made.tree('')
    await made.publish('registry.test/skills/pdf:2', { name: 'pdf', body: 'new' })
    const published = await made.tree('published')

    const refused = made.installer.install(USER, { reference: 'registry.test/skills/pdf:2' })

    await expect(refused).rejects.toMatchObject({ code: 'skill_other_version', status: 409 })
    expect(without(await made.tree(''), 'published/')).toEqual(without(before, 'published/'))
    expect(Object.keys(published)).toHaveLength(4)
  })

  test('replaces the old one with --force, for the clients that had it too', async () => {
    const made = await withPdf()
    await made.installer.install(USER, { reference: REF })
    await made.publish('registry.test/skills/pdf:2', { name: 'pdf', body: 'new' })

    await made.installer.install(USER, {
      reference: 'registry.test/skills/pdf:2',
      clients: ['kiro'],
      force: true,
    })

    for (const client of ['.cursor', '.claude', '.kiro']) {
      const tree = await made.tree(`${client}/skills`)
      expect(Object.keys(tree)).toEqual(['pdf/SKILL.md'])
      expect(tree['pdf/SKILL.md']).toContain('new')
    }
  })
})

describe('what is not ours', () => {
  test('a folder of somebody else is refused without --force', async () => {
    const made = await withPdf()
    await made.write('.cursor/skills/pdf/SKILL.md', 'mine')

    await expect(made.installer.install(USER, { reference: REF })).rejects.toMatchObject({
      code: 'skill_folder_foreign',
      status: 409,
    })

    expect(await made.tree('.cursor/skills')).toEqual({ 'pdf/SKILL.md': 'mine' })
    expect(await made.tree('.claude')).toEqual({})
    expect(await made.installer.list('all')).toEqual([])
  })

  test('it is replaced with --force', async () => {
    const made = await withPdf()
    await made.write('.cursor/skills/pdf/mine.md', 'mine')

    await made.installer.install(USER, { reference: REF, force: true })

    expect(await made.tree('.cursor/skills')).toEqual(await made.tree('.claude/skills'))
  })

  test.each(['SKILL.md', 'notes.md'])('an edit of %s is noticed, and left alone', async file => {
    const made = await withPdf()
    await made.installer.install(USER, { reference: REF })
    await made.write(`.cursor/skills/pdf/${file}`, 'my words')

    const again = made.installer.install(USER, { reference: REF })

    await expect(again).rejects.toMatchObject({ code: 'skill_edited', status: 409 })
    await expect(again).rejects.toThrow(file)
    expect(await made.read(`.cursor/skills/pdf/${file}`)).toBe('my words')
  })

  test('--force gives the edit up', async () => {
    const made = await withPdf()
    await made.installer.install(USER, { reference: REF })
    await made.write('.cursor/skills/pdf/notes.md', 'my words')

    await made.installer.install(USER, { reference: REF, force: true })

    expect(await made.tree('.cursor/skills')).toEqual(await made.tree('.claude/skills'))
  })

  test('files that a script leaves behind do not count as edits', async () => {
    const made = await withPdf()
    await made.installer.install(USER, { reference: REF })
    await made.write('.cursor/skills/pdf/scripts/__pycache__/a.pyc', 'x')

    await made.installer.install(USER, { reference: REF })
    await made.installer.uninstall(USER, 'pdf', { force: false })

    expect(await made.tree('.cursor')).toEqual({})
  })

  test.each(['.cursor', '.cursor/skills', '.cursor/skills/pdf'])(
    'a link at %s is not written through, even with --force',
    async path => {
      const made = await withPdf()
      const elsewhere = join(made.home, 'elsewhere')
      await mkdir(elsewhere)
      await rm(join(made.home, path), { recursive: true, force: true })
      await mkdir(join(made.home, path, '..'), { recursive: true })
      await symlink(elsewhere, join(made.home, path))

      const refused = made.installer.install(USER, { reference: REF, clients: ['cursor'], force: true })

      await expect(refused).rejects.toMatchObject({ code: 'skill_folder_unsafe' })
      expect(await readdir(elsewhere)).toEqual([])
    },
  )
})

describe('groups', () => {
  test('it joins the default group', async () => {
    const { installer, groups } = await withPdf()

    await installer.install(USER, { reference: REF })

    expect((await groups.get('default')).skills).toEqual(['pdf'])
  })

  test('it joins the group that was named, once', async () => {
    const { installer, groups } = await withPdf()
    await groups.create('team')

    await installer.install(USER, { reference: REF, group: 'team' })
    await installer.install(USER, { reference: REF, group: 'team' })

    expect((await groups.get('team')).skills).toEqual(['pdf'])
    expect((await groups.get('default')).skills).toBeUndefined()
  })

  test('a group that is not there fails, and leaves nothing', async () => {
    const made = await withPdf()

    await expect(made.installer.install(USER, { reference: REF, group: 'none' })).rejects.toMatchObject({
      code: 'group_unknown',
      status: 404,
    })

    expect(await made.tree('.cursor')).toEqual({})
    expect(await made.installer.list('all')).toEqual([])
  })
})

test('a fetch that fails leaves nothing', async () => {
  const made = await withPdf()
  await made.fail(REF, 502, 'skill_source_failed')

  await expect(made.installer.install(USER, { reference: REF })).rejects.toMatchObject({ status: 502 })

  expect(await made.tree('data')).toEqual({})
  expect(await made.tree('.cursor')).toEqual({})
})

test('nothing of keelson’s is left in the project but the skill and the lock file', async () => {
  const made = await withPdf()

  await made.installer.install(made.project, { reference: REF, clients: ['cursor'] })

  expect(Object.keys(await made.tree('project'))).toEqual([
    '.cursor/skills/pdf/SKILL.md',
    '.cursor/skills/pdf/scripts/fill.sh',
    'keelson.lock.yaml',
  ])
})

test('a linked working tree, where .git is a file, is a project too', async () => {
  const made = await withPdf()
  await rm(join(made.project.root, '.git'), { recursive: true })
  await made.write('project/.git', 'gitdir: ../elsewhere/.git/worktrees/project\n')

  await made.installer.install(made.project, { reference: REF })

  expect(Object.keys(await made.tree('project')).filter(path => !path.includes('/'))).toEqual([
    '.git',
    'keelson.lock.yaml',
  ])
})

test.each(['.git/keelson-skills.lock', 'keelson.lock.yaml.lock'])(
  'a link at %s holds nobody up',
  async path => {
    const made = await withPdf()
    if (!path.startsWith('.git')) {
      await rm(join(made.project.root, '.git'), { recursive: true })
      await made.write('project/.git', 'gitdir: ../x')
    }
    await symlink('/nonexistent/lock', join(made.project.root, path))

    await expect(made.installer.install(made.project, { reference: REF })).rejects.toMatchObject({
      code: 'skill_folder_unsafe',
    })
    expect(await made.tree('project/.cursor')).toEqual({})
  },
)

test('what fails at the very last step undoes all the others', async () => {
  const made = await withPdf()
  await made.publish('registry.test/skills/pdf:2', { name: 'pdf', body: 'new', requires: [] })
  await made.installer.install(made.project, { reference: REF })
  await rm(join(made.home, 'state'), { recursive: true })
  await made.write('state', 'no folder, so that no group can be changed')
  const before = await made.tree('')

  const late = made.installer.install(made.project, {
    reference: 'registry.test/skills/pdf:2',
    clients: ['kiro'],
    group: 'default',
    force: true,
  })

  await expect(late).rejects.toMatchObject({ code: 'file_unwritable' })
  expect(await made.tree('')).toEqual(before)
})

test('a client’s folder that cannot be written undoes what was written for the others', async () => {
  const made = await withPdf()
  await made.write('.claude/skills', 'a file where a folder should be')

  await expect(made.installer.install(USER, { reference: REF })).rejects.toMatchObject({
    code: 'skill_folder_unsafe',
  })

  expect(await made.tree('.cursor')).toEqual({})
})

const without = (tree: Record<string, string>, prefix: string) =>
  Object.fromEntries(Object.entries(tree).filter(([path]) => !path.startsWith(prefix)))
