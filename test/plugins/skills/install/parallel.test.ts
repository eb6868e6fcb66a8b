import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { bundled } from '../../../support/bundled.ts'
import { skillsHome } from '../skills-home.ts'

const program = bundled(new URL('../skill-program.ts', import.meta.url))
const names = Array.from({ length: 20 }, (_, i) => `s${String(i).padStart(2, '0')}`)
const ref = (name: string) => `registry.test/skills/${name}:1`

test('twenty processes install skills that need the same ones: nothing is lost', async () => {
  const made = await skillsHome()
  for (const name of ['base', 'left', 'right']) await made.publish(ref(name), { name })
  for (const [i, name] of names.entries())
    await made.publish(ref(name), { name, requires: [ref('base'), ref(i % 2 ? 'left' : 'right')] })

  const ended = await Promise.all(
    names.map(name => {
      const request = JSON.stringify({ scope: 'project', reference: ref(name), clients: ['cursor', 'kiro'] })
      return execa(process.execPath, [program, made.home, 'install', request], { reject: false })
    }),
  )

  expect(ended.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
    names.map(() => ({ exitCode: 0, stderr: '' })),
  )
  const all = ['base', 'left', 'right', ...names]
  const listed = await made.installer.list('all')
  expect(listed.map(({ metadata }) => metadata.name)).toEqual(all)
  for (const client of ['.cursor', '.kiro'])
    expect((await readdir(join(made.project.root, client, 'skills'))).sort()).toEqual(all)
  const lock = parse((await made.read('project/keelson.lock.yaml')) ?? '')
  expect(lock.skills.map(({ name }: { name: string }) => name)).toEqual(all)
  expect(lock.skills[0].requiredBy).toEqual(names)
  expect((await made.groups.get('default')).skills).toEqual(all)
  expect(await readdir(join(made.home, 'data/skills'))).toEqual(
    expect.not.arrayContaining(['journal.json', 'lock']),
  )
}, 180_000)

test('twenty installs of one skill at once are one installation', async () => {
  const made = await skillsHome()
  await made.publish(ref('pdf'), { name: 'pdf' })

  const details = await Promise.all(
    Array.from({ length: 20 }, () => made.installer.install(made.project, { reference: ref('pdf') })),
  )

  expect(new Set(details.map(detail => JSON.stringify(detail))).size).toBe(1)
  expect(await made.tree('project/.cursor')).toEqual(await made.tree('project/.claude'))
  expect(Object.keys(await made.tree('project/.cursor'))).toEqual(['skills/pdf/SKILL.md'])
})

test('two homes that install into one project lose nothing of its lock file', async () => {
  const [one, two] = [await skillsHome(), await skillsHome()]
  for (const made of [one, two]) {
    for (const name of names) await made.publish(ref(name), { name })
  }

  await Promise.all(
    names.map((name, i) => {
      const { installer } = i % 2 ? one : two
      return installer.install(one.project, { reference: ref(name) })
    }),
  )

  const lock = parse((await one.read('project/keelson.lock.yaml')) ?? '')
  expect(lock.skills.map(({ name }: { name: string }) => name)).toEqual(names)
})

test('installing and uninstalling at once leaves a skill whole or gone', async () => {
  const made = await skillsHome()
  await made.publish(ref('pdf'), { name: 'pdf', files: { 'a/b.md': 'b' } })
  const work = (i: number) =>
    i % 2
      ? made.installer.install(made.project, { reference: ref('pdf') })
      : made.installer.uninstall(made.project, 'pdf', { force: false })

  const ended = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => work(i)))

  const codes = ended.flatMap(one => (one.status === 'rejected' ? [one.reason.code] : []))
  expect(new Set(codes)).toEqual(new Set(codes.length ? ['skill_not_installed'] : []))
  const isThere = (await made.installer.list('all')).length === 1
  const files = isThere ? ['skills/pdf/SKILL.md', 'skills/pdf/a/b.md'] : []
  for (const client of ['.cursor', '.claude'])
    expect(Object.keys(await made.tree(`project/${client}`))).toEqual(files)
})
