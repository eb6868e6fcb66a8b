import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ALICE } from '../../../support/fake-skill-sources.ts'
import { type SkillsHome, skillsHome, skillsHomeAt } from '../skills-home.ts'

const PDF = 'registry.test/skills/pdf:1'
const FONTS = 'registry.test/skills/fonts:1'
const BOB = { ...ALICE, signerIdentity: 'bob@example.com' }

/** A project with `pdf`, which needs `fonts`. */
async function locked(): Promise<SkillsHome> {
  const made = await skillsHome()
  await made.publish(FONTS, { name: 'fonts' })
  await made.publish(PDF, { name: 'pdf', requires: [FONTS] })
  await made.installer.install(made.project, { reference: PDF })
  return made
}

/** Somebody else who has cloned the project: its lock file, nothing installed. */
async function cloned(): Promise<SkillsHome> {
  const [theirs, mine] = [await locked(), await skillsHome()]
  await cp(join(theirs.home, 'published'), join(mine.home, 'published'), { recursive: true })
  await cp(join(theirs.home, 'project/keelson.lock.yaml'), join(mine.home, 'project/keelson.lock.yaml'))
  return mine
}

const lockOf = (made: SkillsHome) => made.read('project/keelson.lock.yaml')

describe('what is in step', () => {
  test('is said, and nothing is fetched', async () => {
    const made = await locked()
    const before = made.sources.fetched.length

    expect(await made.sync()).toMatchObject({ already_current: ['fonts', 'pdf'], installed: [], failed: [] })
    expect(made.sources.fetched).toHaveLength(before)
  })

  test('skills that were committed with the project are, on a machine that never installed any', async () => {
    const [theirs, mine] = [await locked(), await skillsHome()]
    for (const path of ['keelson.lock.yaml', '.cursor', '.claude'])
      await cp(join(theirs.home, 'project', path), join(mine.home, 'project', path), { recursive: true })

    expect(await mine.sync({ check: true })).toMatchObject({ already_current: ['fonts', 'pdf'] })
  })

  test('the same without a client application, as in CI', async () => {
    const made = await locked()
    await rm(join(made.home, '.cursor'), { recursive: true })
    await rm(join(made.home, '.claude.json'))
    await rm(join(made.home, 'data'), { recursive: true })

    expect(await skillsHomeAt(made.home).sync({ check: true })).toMatchObject({
      already_current: ['fonts', 'pdf'],
    })
  })
})

describe('a clone', () => {
  test('gets what the lock file pins, also when its references mean something newer', async () => {
    const [theirs, mine] = [await locked(), await cloned()]
    await mine.publish(PDF, { name: 'pdf', body: 'newer' })
    const before = await lockOf(mine)

    const result = await mine.sync()

    expect(result).toMatchObject({ missing: ['fonts', 'pdf'], installed: ['fonts', 'pdf'], failed: [] })
    expect(await mine.tree('project/.cursor')).toEqual(await theirs.tree('project/.cursor'))
    expect(await lockOf(mine)).toBe(before)
    expect(await mine.sync({ check: true })).toMatchObject({ already_current: ['fonts', 'pdf'] })
  })

  test('--check only says so', async () => {
    const mine = await cloned()

    expect(await mine.sync({ check: true })).toMatchObject({ missing: ['fonts', 'pdf'], installed: [] })
    expect(await mine.tree('project/.cursor')).toEqual({})
    expect(mine.sources.fetched).toEqual([])
  })

  test('a "no" to the question changes nothing', async () => {
    const mine = await cloned()
    const asked: unknown[] = []

    await mine.sync({ confirm: async found => asked.push(found.missing) < 0 })

    expect(asked).toEqual([['fonts', 'pdf']])
    expect(await mine.tree('project/.cursor')).toEqual({})
  })

  test('unsigned skills are installed when the user agrees, whatever the lock file says', async () => {
    const [theirs, mine] = [await skillsHome(), await skillsHome()]
    await theirs.publish(FONTS, { name: 'fonts', signer: null })
    await theirs.installer.install(theirs.project, { reference: FONTS, allowUnsigned: true })
    await cp(join(theirs.home, 'published'), join(mine.home, 'published'), { recursive: true })
    const text = (await lockOf(theirs)) ?? ''
    await mine.write('project/keelson.lock.yaml', text.replace('    unsigned: true\n', ''))

    expect(await mine.sync()).toMatchObject({
      failed: [{ name: 'fonts', reason: 'unsigned-rejected' }],
    })
    await mine.write('project/keelson.lock.yaml', text)
    expect(await mine.sync()).toMatchObject({ failed: [{ name: 'fonts', reason: 'unsigned-rejected' }] })
    const asked: unknown[] = []
    const answer = (yes: boolean) => async (names: readonly string[]) => asked.push(names) > 0 && yes
    expect(await mine.sync({ confirmUnsigned: answer(false) })).toMatchObject({ installed: [] })
    expect(await mine.sync({ confirmUnsigned: answer(true) })).toMatchObject({ installed: ['fonts'] })
    expect(asked).toEqual([['fonts'], ['fonts']])

    await rm(join(mine.home, 'project/.cursor'), { recursive: true })
    expect(await mine.sync()).toMatchObject({ installed: ['fonts'], failed: [] })
  })

  test.each(['unsigned: true', 'version: "1"'])(
    'a lock file with %s does not make a skill unsigned that was signed here before',
    async words => {
      const mine = await skillsHome()
      await mine.publish(FONTS, { name: 'fonts' })
      await mine.installer.install(mine.project, { reference: FONTS })
      await mine.publish(FONTS, { name: 'fonts', signer: null, files: { 'more.md': 'evil' } })
      const { digest, contentDigest } = await mine.sources.fetch(FONTS, {
        ...{ staging: join(mine.home, 'published'), typed: false },
      })
      const lock = (await lockOf(mine)) ?? ''
      const evil = lock
        .replace(/ {4}digest: .*/, `    digest: ${digest}`)
        .replace(/ {4}contentDigest: .*/, `    contentDigest: ${contentDigest}`)
        .replace(/ {4}provenance:\n(?: {6}.*\n)+/, `    ${words}\n`)
        .replace(/ {4}resolvedReference: .*\n/, '')
      await mine.write('project/keelson.lock.yaml', evil)

      const { installed, failed } = await mine.sync({ allowUnsigned: true, force: true })

      expect([installed, failed.map(one => one.reason)]).toEqual([[], ['unsigned-rejected']])
    },
  )

  test('one that cannot be had does not stop the others', async () => {
    const mine = await cloned()
    const pinned = /resolvedReference: (\S+pdf@\S+)/.exec((await lockOf(mine)) ?? '')?.[1] ?? ''
    await mine.fail(pinned, 502, 'skill_source_failed')

    expect(await mine.sync()).toMatchObject({
      installed: ['fonts'],
      failed: [{ name: 'pdf', reason: 'registry-unreachable' }],
    })
  })
})

describe('what comes is not what is locked', () => {
  async function syncWith(change: (text: string) => string) {
    const mine = await cloned()
    await mine.write('project/keelson.lock.yaml', change((await lockOf(mine)) ?? ''))
    const { failed } = await mine.sync()
    expect(await mine.tree('project/.cursor/skills/fonts')).toEqual({})
    return failed.find(({ name }) => name === 'fonts')?.reason
  }
  const first = (pattern: RegExp, by: string) => (text: string) => text.replace(pattern, by)

  test.each([
    [
      'another signer',
      first(/signerIdentity: \S+/, `signerIdentity: ${BOB.signerIdentity}`),
      'signer-mismatch',
    ],
    [
      'another repository',
      first(/repositoryUri: \S+/, 'repositoryUri: https://x.test/y'),
      'provenance-field-mismatch',
    ],
    ['another tag', first(/repositoryRef: \S+/, 'repositoryRef: refs/tags/v9'), 'provenance-field-mismatch'],
    [
      'another content',
      first(/contentDigest: \S+/, `contentDigest: sha256:${'0'.repeat(64)}`),
      'validation-rejected',
    ],
    [
      'a digest that nobody has',
      (text: string) => text.replaceAll(/(fonts@|digest: )sha256:\w+/g, `$1sha256:${'0'.repeat(64)}`),
      'digest-missing',
    ],
  ])('%s: %s', async (_, change, reason) => {
    expect(await syncWith(change)).toBe(reason)
  })

  test('nothing signed where a signer is locked', async () => {
    const mine = await cloned()
    const digest = await mine.publish(FONTS, { name: 'fonts', signer: null })
    const text = ((await lockOf(mine)) ?? '').replace(
      /(fonts@)sha256:\w+(\s+digest: )\S+/,
      `$1${digest}$2${digest}`,
    )
    await mine.write('project/keelson.lock.yaml', text)

    const { failed } = await mine.sync({ allowUnsigned: true })

    expect(failed).toContainEqual(expect.objectContaining({ name: 'fonts', reason: 'unsigned-rejected' }))
  })
})

describe('drift', () => {
  test('another digest in the lock file, after a git pull, is installed', async () => {
    const made = await locked()
    const old = await lockOf(made)
    await made.publish('registry.test/skills/pdf:2', { name: 'pdf', body: 'two' })
    await made.installer.install(made.project, { reference: 'registry.test/skills/pdf:2', force: true })
    await made.write('project/keelson.lock.yaml', old ?? '')

    expect(await made.sync()).toMatchObject({ drifted: ['pdf'], installed: ['fonts', 'pdf'] })
    expect(await made.read('project/.cursor/skills/pdf/SKILL.md')).not.toContain('two')
  })

  test('a folder that was deleted comes back', async () => {
    const made = await locked()
    await rm(join(made.home, 'project/.cursor'), { recursive: true })

    expect(await made.sync()).toMatchObject({ drifted: ['fonts', 'pdf'], installed: ['fonts', 'pdf'] })
    expect(await made.tree('project/.cursor')).toEqual(await made.tree('project/.claude'))
  })

  test('edits are not lost without --force', async () => {
    const made = await locked()
    await made.write('project/.cursor/skills/pdf/SKILL.md', 'my words')

    const result = await made.sync()
    expect(result).toMatchObject({
      drifted: ['pdf'],
      failed: [{ name: 'pdf', reason: 'validation-rejected' }],
    })
    expect(result.failed[0]?.error).toContain('SKILL.md')
    expect(await made.read('project/.cursor/skills/pdf/SKILL.md')).toBe('my words')

    expect(await made.sync({ force: true })).toMatchObject({ installed: ['pdf'], failed: [] })
    expect(await made.tree('project/.cursor')).toEqual(await made.tree('project/.claude'))
  })

  test('a client that is added is drift for those that lack it', async () => {
    const made = await locked()

    expect(await made.sync({ clients: ['cursor', 'kiro'] })).toMatchObject({ installed: ['fonts', 'pdf'] })
    expect(await made.tree('project/.kiro')).toEqual(await made.tree('project/.cursor'))
  })
})

describe('what the lock file does not name', () => {
  async function forgotten(): Promise<SkillsHome> {
    const made = await locked()
    await made.write('project/keelson.lock.yaml', 'version: 1\n')
    return made
  }

  test('is said, and left alone', async () => {
    const made = await forgotten()

    expect(await made.sync()).toMatchObject({ removed_from_lock: ['fonts', 'pdf'], pruned: [] })
    expect(await made.installer.list('all')).toHaveLength(2)
  })

  test('--prune removes it', async () => {
    const made = await forgotten()

    expect(await made.sync({ prune: true })).toMatchObject({ pruned: ['fonts', 'pdf'] })
    expect(await made.tree('project')).toEqual({ 'keelson.lock.yaml': 'version: 1\n' })
    expect(await made.installer.list('all')).toEqual([])
  })

  test('--prune does not throw edits away', async () => {
    const made = await forgotten()
    await made.write('project/.cursor/skills/pdf/notes.md', 'mine')

    expect(await made.sync({ prune: true })).toMatchObject({
      pruned: ['fonts'],
      failed: [{ name: 'pdf', reason: 'validation-rejected' }],
    })
  })

  test('--adopt puts it into the lock file', async () => {
    const [made, untouched] = [await forgotten(), await locked()]

    await made.sync({ adopt: true })

    expect(await lockOf(made)).toBe(await lockOf(untouched))
  })

  test('a skill that somebody wrote by hand is named, and nothing happens to it', async () => {
    const made = await locked()
    await made.write('project/.cursor/skills/house-style/SKILL.md', 'mine')

    expect(await made.sync({ prune: true, force: true })).toMatchObject({ never_managed: ['house-style'] })
    expect(await made.read('project/.cursor/skills/house-style/SKILL.md')).toBe('mine')
  })
})

describe('a folder in the way', () => {
  async function blocked(): Promise<SkillsHome> {
    const mine = await cloned()
    await mine.write('project/.cursor/skills/pdf/SKILL.md', 'mine')
    return mine
  }

  test('is not replaced', async () => {
    const mine = await blocked()

    expect(await mine.sync()).toMatchObject({
      installed: ['fonts'],
      failed: [{ name: 'pdf', reason: 'validation-rejected' }],
    })
    expect(await mine.read('project/.cursor/skills/pdf/SKILL.md')).toBe('mine')
  })

  test('--adopt takes it over', async () => {
    const mine = await blocked()

    expect(await mine.sync({ adopt: true })).toMatchObject({ installed: ['fonts', 'pdf'] })
    expect(await mine.tree('project/.cursor')).toEqual(await mine.tree('project/.claude'))
  })
})

describe('--frozen', () => {
  test('fails without a lock file of ours', async () => {
    const mine = await skillsHome()
    await expect(mine.sync({ frozen: true })).rejects.toMatchObject({
      code: 'skill_lock_missing',
      status: 404,
    })
    await mine.write('project/toolhive.lock.yaml', 'version: 1\n')
    await expect(mine.sync({ frozen: true })).rejects.toMatchObject({ code: 'skill_lock_missing' })
  })

  test('installs without writing to the lock file what it does not say yet', async () => {
    const [frozen, mine] = [await cloned(), await cloned()]
    for (const made of [frozen, mine]) {
      const text = ((await lockOf(made)) ?? '').replaceAll(/ {4}contentDigest: \S+\n/g, '')
      await made.write('project/keelson.lock.yaml', text)
    }

    expect(await frozen.sync({ frozen: true })).toMatchObject({ installed: ['fonts', 'pdf'] })
    expect(await mine.sync()).toMatchObject({ installed: ['fonts', 'pdf'] })

    expect(await lockOf(frozen)).not.toContain('contentDigest')
    expect(await lockOf(mine)).toContain('contentDigest')
  })
})

test('ToolHive’s lock file is followed, and stays as it is', async () => {
  const mine = await cloned()
  const text = (await lockOf(mine)) ?? ''
  await rm(join(mine.home, 'project/keelson.lock.yaml'))
  await writeFile(join(mine.home, 'project/toolhive.lock.yaml'), text)

  expect(await mine.sync()).toMatchObject({ installed: ['fonts', 'pdf'] })

  expect(mine.warnings.join()).toContain('toolhive.lock.yaml is read')
  expect(await mine.read('project/toolhive.lock.yaml')).toBe(text)
  await mine.publish('registry.test/skills/zip:1', { name: 'zip' })
  await mine.installer.install(mine.project, { reference: 'registry.test/skills/zip:1' })
  expect([...((await lockOf(mine)) ?? '').matchAll(/name: (\S+)/g)].map(([, name]) => name)).toEqual([
    'fonts',
    'pdf',
    'zip',
  ])
})

test('a lock file that cannot be read fails the installation, and leaves nothing', async () => {
  const made = await skillsHome()
  await made.publish(PDF, { name: 'pdf' })
  await mkdir(join(made.home, 'project/keelson.lock.yaml'))

  await expect(made.installer.install(made.project, { reference: PDF })).rejects.toMatchObject({
    code: 'skill_lock_invalid',
  })

  expect(await made.tree('project')).toEqual({})
  expect(await made.installer.list('all')).toEqual([])
})
