import { describe, expect, test } from 'vitest'
import { type SkillsHome, skillsHome, USER } from '../skills-home.ts'

const ref = (name: string, tag = '1') => `registry.test/skills/${name}:${tag}`

async function publishAll(graph: Record<string, readonly string[]>): Promise<SkillsHome> {
  const made = await skillsHome()
  for (const [name, requires] of Object.entries(graph))
    await made.publish(ref(name), { name, requires: requires.map(needed => ref(needed)) })
  return made
}

const names = async ({ installer }: SkillsHome) =>
  (await installer.list('all')).map(({ metadata }) => metadata.name)

describe.each(['user', 'project'] as const)('in the scope %s', scope => {
  const placeOf = (made: SkillsHome) => (scope === 'user' ? USER : made.project)

  test('what a skill needs is installed with it, directly or not', async () => {
    const made = await publishAll({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] })

    const { skill } = await made.installer.install(placeOf(made), { reference: ref('a') })

    expect(await names(made)).toEqual(['a', 'b', 'c', 'd'])
    expect(skill.dependencies?.map(({ name, reference }) => [name, reference])).toEqual([
      ['b', ref('b')],
      ['c', ref('c')],
    ])
    expect(made.sources.fetched.filter(reference => reference === ref('d'))).toHaveLength(1)
  })

  test('a circle is refused, and nothing is installed', async () => {
    const made = await publishAll({ a: ['b'], b: ['c'], c: ['b'] })

    await expect(made.installer.install(placeOf(made), { reference: ref('a') })).rejects.toMatchObject({
      code: 'skill_cycle',
      message: 'Skills need each other in a circle: b → c → b.',
      status: 422,
    })
    expect(await names(made)).toEqual([])
  })

  test('one that needs itself is a circle', async () => {
    const made = await publishAll({ a: ['a'] })

    await expect(made.installer.install(placeOf(made), { reference: ref('a') })).rejects.toMatchObject({
      code: 'skill_cycle',
    })
  })

  test('two that need different skills of one name are refused', async () => {
    const made = await publishAll({ a: ['b', 'c'], b: ['x'], x: [] })
    await made.publish(ref('c'), { name: 'c', requires: ['other.test/y/x:1'] })
    await made.publish('other.test/y/x:1', { name: 'x', body: 'another' })

    await expect(made.installer.install(placeOf(made), { reference: ref('a') })).rejects.toMatchObject({
      code: 'skill_conflict',
      status: 409,
    })
    expect(await names(made)).toEqual([])
  })

  test('one that is there from elsewhere is a conflict, which --force decides', async () => {
    const made = await publishAll({ a: ['x'], x: [] })
    await made.publish('other.test/y/x:1', { name: 'x', body: 'another' })
    await made.installer.install(placeOf(made), { reference: 'other.test/y/x:1' })

    await expect(made.installer.install(placeOf(made), { reference: ref('a') })).rejects.toMatchObject({
      code: 'skill_conflict',
    })
    await made.installer.install(placeOf(made), { reference: ref('a'), force: true })

    expect(await names(made)).toEqual(['a', 'x'])
    expect((await made.installer.get(placeOf(made), 'x')).skill.reference).toBe(ref('x'))
  })

  test('one that is there from the same place stays as it is', async () => {
    const made = await publishAll({ a: ['x'], x: [] })
    await made.installer.install(placeOf(made), { reference: ref('x') })
    const { skill } = await made.installer.get(placeOf(made), 'x')
    await made.publish(ref('x'), { name: 'x', body: 'newer' })

    await made.installer.install(placeOf(made), { reference: ref('a') })

    expect((await made.installer.get(placeOf(made), 'x')).skill.digest).toBe(skill.digest)
  })

  test('an edited one does not prevent the installation of another that needs it', async () => {
    const made = await publishAll({ a: ['x'], x: [] })
    await made.installer.install(placeOf(made), { reference: ref('x') })
    const path = `${scope === 'user' ? '' : 'project/'}.cursor/skills/x/SKILL.md`
    await made.write(path, 'my words')

    await made.installer.install(placeOf(made), { reference: ref('a') })

    expect(await made.read(path)).toBe('my words')
  })

  test('what is allowed to be unsigned may need what is unsigned', async () => {
    const made = await skillsHome()
    await made.publish(ref('b'), { name: 'b', signer: null })
    await made.publish(ref('a'), { name: 'a', signer: null, requires: [ref('b')] })

    await made.installer.install(placeOf(made), { reference: ref('a'), allowUnsigned: true })

    expect(await names(made)).toEqual(['a', 'b'])
  })

  test('an unsigned one behind a signed one is refused, and nothing is installed', async () => {
    const made = await skillsHome()
    await made.publish(ref('b'), { name: 'b', signer: null })
    await made.publish(ref('a'), { name: 'a', requires: [ref('b')] })

    await expect(made.installer.install(placeOf(made), { reference: ref('a') })).rejects.toMatchObject({
      code: 'skill_unsigned',
      status: 403,
    })
    expect(await names(made)).toEqual([])
  })

  test('a newer version that needs less lets go what nothing else needs', async () => {
    const made = await publishAll({ a: ['b', 'c'], b: [], c: [] })
    await made.installer.install(placeOf(made), { reference: ref('a') })
    await made.publish(ref('a', '2'), { name: 'a', requires: [ref('c')] })

    await made.installer.install(placeOf(made), { reference: ref('a', '2'), force: true })

    expect(await names(made)).toEqual(['a', 'c'])
  })
})

test('a hundred needed skills are installed, one more is refused', async () => {
  const list = (count: number) => Array.from({ length: count }, (_, i) => `s${i}`)
  const graph = Object.fromEntries(list(101).map(name => [name, []]))
  const made = await publishAll({ ...graph, many: list(100), 'too-many': list(101) })

  await expect(made.installer.install(USER, { reference: ref('too-many') })).rejects.toMatchObject({
    code: 'skill_requires_too_many',
    status: 422,
  })
  expect(await names(made)).toEqual([])
  await made.installer.install(USER, { reference: ref('many') })
  expect(await names(made)).toHaveLength(101)
})

test('a needed skill that cannot be fetched leaves nothing', async () => {
  const made = await publishAll({ a: ['b'] })

  await expect(made.installer.install(USER, { reference: ref('a') })).rejects.toMatchObject({ status: 404 })

  expect(await made.tree('.cursor')).toEqual({})
})
