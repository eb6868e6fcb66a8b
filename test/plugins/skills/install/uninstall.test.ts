import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type SkillsHome, skillsHome, USER } from '../skills-home.ts'

const PDF = 'registry.test/skills/pdf:1'
const CALM = { force: false }

async function installed(): Promise<SkillsHome> {
  const made = await skillsHome()
  await made.publish('registry.test/skills/fonts:1', { name: 'fonts' })
  await made.publish(PDF, { name: 'pdf', requires: ['registry.test/skills/fonts:1'] })
  await made.installer.install(USER, { reference: PDF })
  return made
}

test('nothing of it is left: folders, record, membership, what only it needed', async () => {
  const made = await installed()

  await made.installer.uninstall(USER, 'pdf', CALM)

  expect(await made.tree('.cursor')).toEqual({})
  expect(await made.tree('.claude')).toEqual({})
  expect(await made.installer.list('all')).toEqual([])
  expect((await made.groups.get('default')).skills).toBeUndefined()
  expect(await made.tree('data')).toEqual({})
})

test('folders that nothing is in any more go, the one that shows that a client is installed stays', async () => {
  const made = await installed()

  await made.installer.uninstall(USER, 'pdf', CALM)

  await expect(made.installer.install(USER, { reference: PDF, clients: ['all'] })).resolves.toMatchObject({
    skill: { clients: ['cursor', 'claude-code'] },
  })
})

test('folders of other skills stay', async () => {
  const made = await installed()
  await made.write('.cursor/skills/own/SKILL.md', 'mine')

  await made.installer.uninstall(USER, 'pdf', CALM)

  expect(await made.tree('.cursor')).toEqual({ 'skills/own/SKILL.md': 'mine' })
})

test('what was asked for by name stays when the skill that needs it goes', async () => {
  const made = await installed()
  await made.installer.install(USER, { reference: 'registry.test/skills/fonts:1' })

  await made.installer.uninstall(USER, 'pdf', CALM)

  expect((await made.installer.list('all')).map(({ metadata }) => metadata.name)).toEqual(['fonts'])
})

test('what another skill needs too stays until that goes', async () => {
  const made = await installed()
  await made.publish('registry.test/skills/doc:1', {
    name: 'doc',
    requires: ['registry.test/skills/fonts:1'],
  })
  await made.installer.install(USER, { reference: 'registry.test/skills/doc:1' })
  const names = async () => (await made.installer.list('all')).map(({ metadata }) => metadata.name)

  await made.installer.uninstall(USER, 'pdf', CALM)
  expect(await names()).toEqual(['doc', 'fonts'])
  await made.installer.uninstall(USER, 'doc', CALM)
  expect(await names()).toEqual([])
})

test('one that others need is refused, naming them; --force takes it away', async () => {
  const made = await installed()

  await expect(made.installer.uninstall(USER, 'fonts', CALM)).rejects.toMatchObject({
    code: 'skill_required',
    message: 'The skill "fonts" is needed by pdf.',
  })
  await made.installer.uninstall(USER, 'fonts', { force: true })

  expect(Object.keys(await made.tree('.cursor/skills'))).toEqual(['pdf/SKILL.md'])
})

test('edits are not thrown away without --force', async () => {
  const made = await installed()
  await made.write('.cursor/skills/pdf/SKILL.md', 'my words')

  await expect(made.installer.uninstall(USER, 'pdf', CALM)).rejects.toMatchObject({ code: 'skill_edited' })

  expect(await made.read('.cursor/skills/pdf/SKILL.md')).toBe('my words')
  expect(await made.read('.claude/skills/pdf/SKILL.md')).toContain('pdf')
})

test('one whose folder is gone already is still taken off the list', async () => {
  const made = await installed()
  await rm(join(made.home, '.cursor/skills/pdf'), { recursive: true })

  await made.installer.uninstall(USER, 'pdf', CALM)

  expect(await made.installer.list('all')).toEqual([])
})

test('nothing is removed through a link', async () => {
  const made = await installed()
  await made.write('elsewhere/pdf/SKILL.md', 'precious')
  await rm(join(made.home, '.cursor/skills'), { recursive: true })
  await symlink(join(made.home, 'elsewhere'), join(made.home, '.cursor/skills'))

  await expect(made.installer.uninstall(USER, 'pdf', { force: true })).rejects.toMatchObject({
    code: 'skill_folder_unsafe',
  })

  expect(await made.read('elsewhere/pdf/SKILL.md')).toBe('precious')
})

test('in a project the lock file’s entries go too', async () => {
  const made = await installed()
  await made.installer.install(made.project, { reference: PDF })
  expect(await made.read('project/keelson.lock.yaml')).toContain('fonts')

  await made.installer.uninstall(made.project, 'pdf', CALM)

  expect(await made.read('project/keelson.lock.yaml')).toBe('version: 1\nskills: []\n')
  expect(await made.tree('project')).toEqual({ 'keelson.lock.yaml': 'version: 1\nskills: []\n' })
})

test('a skill that is still installed elsewhere stays in its group', async () => {
  const made = await installed()
  await made.installer.install(made.project, { reference: PDF })

  await made.installer.uninstall(USER, 'pdf', CALM)
  expect((await made.groups.get('default')).skills).toEqual(['fonts', 'pdf'])
  await made.installer.uninstall(made.project, 'pdf', CALM)
  expect((await made.groups.get('default')).skills).toBeUndefined()
})

test.each([
  ['pfd', 404, 'skill_not_installed'],
  ['../pdf', 400, 'skill_name_invalid'],
  ['', 400, 'skill_name_invalid'],
])('"%s" responds with %i', async (name, status, code) => {
  const made = await installed()

  await expect(made.installer.uninstall(USER, name, CALM)).rejects.toMatchObject({ status, code })
})
