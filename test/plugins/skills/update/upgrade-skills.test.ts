import { describe, expect, test } from 'vitest'
import { ALICE, type PublishedSkill } from '../../../support/fake-skill-sources.ts'
import { type SkillsHome, skillsHome, USER } from '../skills-home.ts'

const PDF = 'registry.test/skills/pdf:latest'
const OLD: PublishedSkill = {
  name: 'pdf',
  version: '1.0.0',
  tools: ['Read'],
  files: { 'a.md': 'a', 'b.md': 'b' },
}
const NEW: PublishedSkill = {
  name: 'pdf',
  version: '1.1.0',
  tools: ['Read', 'Bash'],
  files: { 'b.md': 'other', 'c.md': 'c' },
}
const at = (tag: string) => ({
  ...ALICE,
  signerIdentity: ALICE.signerIdentity.replace('v1', tag),
  repositoryRef: `refs/tags/${tag}`,
})
const BOB = { ...ALICE, signerIdentity: 'bob@example.com' }

describe.each(['user', 'project'] as const)('in the scope %s', scope => {
  const placeOf = (made: SkillsHome) => (scope === 'user' ? USER : made.project)
  const folder = scope === 'user' ? '.cursor/skills' : 'project/.cursor/skills'

  async function withNewer(old = OLD, newer: PublishedSkill = NEW) {
    const made = await skillsHome()
    const old_digest = await made.publish(PDF, old)
    await made.installer.install(placeOf(made), { reference: PDF, allowUnsigned: true })
    const new_digest = await made.publish(PDF, newer)
    const upgrade = (request = {}) => made.upgrade(request, placeOf(made))
    const place = placeOf(made)
    return { ...made, place, old_digest, new_digest, upgrade, skills: () => made.tree(folder) }
  }

  test('shows what changes: files, tools, version', async () => {
    const { upgrade, skills, old_digest, new_digest } = await withNewer()
    const before = await skills()

    expect(await upgrade({ preview: true })).toEqual([
      {
        name: 'pdf',
        status: 'upgraded',
        old_digest,
        new_digest,
        new_resolved_reference: `registry.test/skills/pdf@${new_digest}`,
        new_signer_identity: ALICE.signerIdentity,
        changes: {
          version: { before: '1.0.0', after: '1.1.0' },
          files: { added: ['c.md'], removed: ['a.md'], changed: ['b.md'] },
          tools_added: ['Bash'],
        },
      },
    ])
    expect(await skills()).toEqual(before)
  })

  test('replaces it, and the next one finds it up to date', async () => {
    const { upgrade, skills, installer, new_digest, place, read } = await withNewer()

    expect(await upgrade()).toMatchObject([{ status: 'upgraded' }])

    expect(Object.keys(await skills())).toEqual(['pdf/SKILL.md', 'pdf/b.md', 'pdf/c.md'])
    const { skill } = await installer.get(place, 'pdf')
    expect(skill).toMatchObject({ digest: new_digest, metadata: { version: '1.1.0' } })
    if (scope === 'project') {
      const lock = await read('project/keelson.lock.yaml')
      expect(lock).toContain(`digest: ${new_digest}`)
      expect(lock).toContain(`source: ${PDF}`)
      expect(lock).toContain('explicit: true')
    }
    expect(await upgrade()).toMatchObject([{ status: 'up-to-date' }])
  })

  test('a "no" to the question changes nothing', async () => {
    const { upgrade, skills } = await withNewer()
    const before = await skills()

    await upgrade({ confirm: async () => false })

    expect(await skills()).toEqual(before)
  })

  test('the same workflow at another tag is the same signer', async () => {
    const { upgrade } = await withNewer(OLD, { ...NEW, signer: at('v2') })

    expect(await upgrade()).toMatchObject([
      { status: 'upgraded', new_signer_identity: at('v2').signerIdentity },
    ])
  })

  test('somebody else is blocked, unless that is allowed', async () => {
    const { upgrade, skills } = await withNewer(OLD, { ...NEW, signer: BOB })
    const before = await skills()

    expect(await upgrade()).toMatchObject([
      {
        status: 'signer-change-blocked',
        new_signer_identity: 'bob@example.com',
        changes: { signer: { before: ALICE.signerIdentity, after: 'bob@example.com' } },
      },
    ])
    expect(await skills()).toEqual(before)
    expect(await upgrade({ allowSignerChange: true })).toMatchObject([{ status: 'upgraded' }])
    expect(await skills()).not.toEqual(before)
  })

  test('what was signed is never replaced by something unsigned', async () => {
    const { upgrade } = await withNewer(OLD, { ...NEW, signer: null })

    for (const allowSignerChange of [false, true]) {
      expect(await upgrade({ allowSignerChange, preview: true })).toMatchObject([
        { status: 'failed', reason: 'unsigned-rejected' },
      ])
    }
  })

  test('what was agreed to be unsigned may stay so', async () => {
    const { upgrade } = await withNewer({ ...OLD, signer: null }, { ...NEW, signer: null })

    expect(await upgrade()).toMatchObject([{ status: 'upgraded' }])
  })

  test('another repository behind the same name is blocked, unless that is allowed', async () => {
    const made = await skillsHome()
    await made.publish('pdf', { ...OLD, resolvedReference: `one.test/a/pdf@sha256:${'1'.repeat(64)}` })
    await made.installer.install(placeOf(made), { reference: 'pdf' })
    await made.publish('pdf', { ...NEW, resolvedReference: `two.test/b/pdf@sha256:${'2'.repeat(64)}` })
    const upgrade = (request = {}) => made.upgrade(request, placeOf(made))

    expect(await upgrade()).toMatchObject([{ status: 'ref-change-blocked' }])
    expect(await upgrade({ allowRefChange: true })).toMatchObject([{ status: 'upgraded' }])
  })

  test('edits are not lost without --force', async () => {
    const { upgrade, write, read } = await withNewer()
    const path = `${folder}/pdf/a.md`
    await write(path, 'my words')

    expect(await upgrade()).toMatchObject([{ status: 'failed', reason: 'validation-rejected' }])
    expect(await read(path)).toBe('my words')
    expect(await upgrade({ force: true })).toMatchObject([{ status: 'upgraded' }])
    expect(await read(path)).toBeUndefined()
  })

  test('what a newer version needs comes with it, what it no longer needs goes', async () => {
    const made = await skillsHome()
    for (const name of ['one', 'two']) await made.publish(`registry.test/skills/${name}:1`, { name })
    await made.publish(PDF, { ...OLD, requires: ['registry.test/skills/one:1'] })
    await made.installer.install(placeOf(made), { reference: PDF })
    await made.publish(PDF, { ...NEW, requires: ['registry.test/skills/two:1'] })

    await made.upgrade({ names: ['pdf'] }, placeOf(made))

    const names = (await made.installer.list('all')).map(({ metadata }) => metadata.name)
    expect(names).toEqual(['pdf', 'two'])
  })

  test('what only others need stays so when it is upgraded itself', async () => {
    const made = await skillsHome()
    await made.publish('registry.test/skills/one:1', { name: 'one' })
    await made.publish(PDF, { ...OLD, requires: ['registry.test/skills/one:1'] })
    await made.installer.install(placeOf(made), { reference: PDF })
    await made.publish('registry.test/skills/one:1', { name: 'one', body: 'newer' })

    expect(await made.upgrade({ names: ['one'] }, placeOf(made))).toMatchObject([{ status: 'upgraded' }])

    await made.installer.uninstall(placeOf(made), 'pdf', { force: false })
    expect(await made.installer.list('all')).toEqual([])
  })

  test('one that cannot be had does not stop the others', async () => {
    const made = await withNewer()
    await made.publish('registry.test/skills/zip:1', { name: 'zip' })
    await made.installer.install(made.place, { reference: 'registry.test/skills/zip:1' })
    await made.fail('registry.test/skills/zip:1', 429, 'skill_source_busy')

    expect(await made.upgrade()).toMatchObject([
      { name: 'pdf', status: 'upgraded' },
      { name: 'zip', status: 'failed', reason: 'registry-unreachable' },
    ])
  })
})

test.each([
  [`registry.test/skills/pdf@sha256:${'a'.repeat(64)}`],
  [`git://git.test/acme/skills@${'c'.repeat(40)}#pdf`],
])('what was installed as %s is pinned', async reference => {
  const made = await skillsHome()
  await made.publish(reference, OLD)
  await made.installer.install(made.project, { reference })

  expect(await made.upgrade()).toMatchObject([{ name: 'pdf', status: 'not-upgradable' }])
})

test('an unknown name is an error, with the nearest one', async () => {
  const made = await skillsHome()
  await made.publish(PDF, OLD)
  await made.installer.install(made.project, { reference: PDF })

  const refused = made.upgrade({ names: ['pfd'] })
  await expect(refused).rejects.toMatchObject({ code: 'skill_not_locked', status: 404 })
  await expect(refused).rejects.toThrow('Did you mean pdf?')
})

test('one that somebody else has changed meanwhile is left alone', async () => {
  const made = await skillsHome()
  await made.publish(PDF, OLD)
  await made.installer.install(made.project, { reference: PDF })
  await made.publish(PDF, NEW)
  const other = async () => {
    await made.upgrade()
    return true
  }

  expect(await made.upgrade({ confirm: other })).toMatchObject([
    { status: 'failed', reason: 'validation-rejected' },
  ])
})
