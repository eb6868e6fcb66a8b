import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { bundled } from '../../../support/bundled.ts'
import { series } from '../../../support/series.ts'
import { type SkillsHome, skillsHome, skillsHomeAt, treeOf } from '../skills-home.ts'

const program = bundled(new URL('../skill-program.ts', import.meta.url))
const dieAtWrite = bundled(new URL('../../clients/die-at-write.ts', import.meta.url))

const PDF = 'registry.test/skills/pdf'

/** `pdf` in two versions; it needs `fonts`, and the second one needs nothing. */
async function published(): Promise<SkillsHome> {
  const made = await skillsHome()
  await rm(join(made.home, '.claude.json'))
  await made.publish('registry.test/skills/fonts:1', { name: 'fonts' })
  await made.publish(`${PDF}:1`, { name: 'pdf', requires: ['registry.test/skills/fonts:1'] })
  await made.publish(`${PDF}:2`, { name: 'pdf', body: 'new', files: { 'more/a.txt': 'a' } })
  return made
}

/** All that a person or another program could see; the supervisor clears away unfinished files of groups. */
const seen = async (home: string) =>
  Object.fromEntries(
    Object.entries(await treeOf(home)).filter(
      ([path, text]) => !/^published\/|^state\/.*\.tmp$/.test(path) && !isEmptyGroup(text),
    ),
  )

/** The default group is there without a file, too. */
const isEmptyGroup = (text: string) => text.includes('"name": "default"') && !text.includes('"skills"')

type Operation = readonly [name: string, request: object]

/** Runs an operation on copies of one home, killed at each (usually at every nth) of its writes in turn. */
async function killedEverywhere(
  { home }: SkillsHome,
  [name, request]: Operation,
  usual: number,
): Promise<void> {
  const nth = series({ usual, long: 1 })
  const args = [home, name, JSON.stringify(request)]
  const saved = `${home}-saved`
  const restore = async () => {
    await rm(home, { recursive: true, force: true })
    await cp(saved, home, { recursive: true })
  }
  await cp(home, saved, { recursive: true })
  try {
    const before = await seen(home)
    expect(await execa(process.execPath, [program, ...args], { reject: false })).toMatchObject({ stderr: '' })
    const after = await seen(home)
    expect(after).not.toEqual(before)

    let killed = 0
    for (let at = 1; ; at += nth) {
      await restore()
      const env = { KILL_AT: String(at) }
      const { signal } = await execa(process.execPath, ['--import', dieAtWrite, program, ...args], {
        env,
        reject: false,
      })
      if (signal !== 'SIGKILL') break
      killed++
      const { installations, warnings, project } = skillsHomeAt(home)
      await installations.read(project) // any command that comes next
      const now = withoutLeftovers(await seen(home))
      const is = { before: different(now, before), after: different(now, after) }
      expect(is.before.length && is.after.length, `killed at write ${at}: ${JSON.stringify(is)}`).toBe(0)
      expect(warnings).toEqual([])

      await skillsHomeAt(home)
        .operate(name, request)
        .catch(() => undefined) // it may have been done by then
      const again = different(await seen(home), after)
      expect(again, `done again after a kill at write ${at}`).toEqual([])
    }
    expect(killed).toBeGreaterThan(40 / nth)
  } finally {
    await rm(saved, { recursive: true, force: true })
  }
}

/** What only the next change clears away: folders and files that nothing reads. */
const withoutLeftovers = (tree: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(tree).filter(
      ([path]) => !/^data\/skills\/(staging\/|lock)|\.tmp$|\.lock$|\.stale$/.test(path),
    ),
  )

const different = (a: Record<string, string>, b: Record<string, string>): string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(path => a[path] !== b[path])

test('kill -9 at any write of an install leaves all of it or nothing', async () => {
  await killedEverywhere(await published(), ['install', { reference: `${PDF}:1` }], 3)
}, 600_000)

test('the same in a project, with its lock file', async () => {
  await killedEverywhere(await published(), ['install', { scope: 'project', reference: `${PDF}:1` }], 4)
}, 600_000)

test('the same for a version that replaces another', async () => {
  const made = await published()
  await made.installer.install(made.project, { reference: `${PDF}:1` })

  await killedEverywhere(made, ['install', { scope: 'project', reference: `${PDF}:2`, force: true }], 4)
}, 600_000)

test('the same for uninstalling', async () => {
  const made = await published()
  await made.installer.install(made.project, { reference: `${PDF}:1` })

  await killedEverywhere(made, ['uninstall', { scope: 'project', name: 'pdf' }], 2)
}, 600_000)

test('the same for an upgrade', async () => {
  const made = await published()
  await made.publish(`${PDF}:latest`, { name: 'pdf' })
  await made.installer.install(made.project, { reference: `${PDF}:latest` })
  await made.publish(`${PDF}:latest`, {
    name: 'pdf',
    body: 'new',
    requires: ['registry.test/skills/fonts:1'],
  })

  await killedEverywhere(made, ['upgrade', { scope: 'project' }], 4)
}, 600_000)

test('the same for a sync of one skill', async () => {
  const made = await published()
  await made.installer.install(made.project, { reference: `${PDF}:2` })
  await rm(join(made.home, 'project/.cursor'), { recursive: true })
  await rm(join(made.home, 'data'), { recursive: true })

  await killedEverywhere(made, ['sync', {}], 4)
}, 600_000)
