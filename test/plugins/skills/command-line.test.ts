import { cp, mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startDockerRegistry } from '../../support/docker-registry.ts'
import { type KeelsonUser, keelsonUser } from '../../support/keelson.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { gitRepository } from '../skill-sources/git-repository.ts'
import { gitServer } from '../skill-sources/git-server.ts'
import { treeOf } from './skills-home-at.ts'

const fixtures = new URL('../../../fixtures/skills', import.meta.url).pathname

/** A user with Cursor installed, who has a project. */
async function user(env: Record<string, string> = {}): Promise<KeelsonUser & { project: string }> {
  const made = await keelsonUser()
  Object.assign(made.env, env)
  const project = join(await realpath(made.home), 'project')
  await mkdir(join(project, '.git'), { recursive: true })
  await mkdir(join(made.home, '.cursor'))
  return { ...made, project }
}

const skillFile = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: How to do ${name}\n${more}---\n# ${name}\n`

test('built, pushed and installed on another machine, a skill has the same bytes', async () => {
  const registry = await startDockerRegistry()
  onTestFinished(registry.stop)
  const reference = `${registry.host}/acme/csv-report:1.0`
  const env = { KEELSON_INSECURE_REGISTRIES: registry.host }
  const [maker, reader] = [await user(env), await user(env)]
  expect(await maker.run(['skill', 'build', join(fixtures, 'csv-report'), '--tag', reference])).toMatchObject(
    {
      code: 0,
      stdout: `${reference}\n`,
    },
  )
  expect(await maker.run(['skill', 'push', reference, '--no-sign'])).toMatchObject({ code: 0 })

  const refused = await reader.run(['skill', 'install', reference])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('is not signed')
  const installed = await reader.run(['skill', 'install', reference, '--allow-unsigned'])

  expect(installed.stdout).toMatch(/^Installed csv-report .*for cursor, not signed\.\n$/)
  const folder = join(reader.home, '.cursor/skills/csv-report')
  expect(await treeOf(folder)).toEqual(await treeOf(join(fixtures, 'csv-report')))
  const [script = ''] = await readdir(join(folder, 'scripts'))
  const mode = async (root: string) => (await stat(join(root, 'scripts', script))).mode & 0o111
  expect(await mode(folder)).toBe(await mode(join(fixtures, 'csv-report')))
}, 180_000)

test('a skill of a git repository: installed, locked, cloned, synced, upgraded, uninstalled', async () => {
  const root = await temporaryFolder()
  const repository = await gitRepository(root)
  const { host } = await gitServer(root)
  const first = await repository.commit({ 'tidy/SKILL.md': skillFile('tidy'), 'tidy/old.md': 'old' })
  const reference = `git://${host}/acme/skills#tidy`
  const env = { KEELSON_PRIVATE_GIT_HOSTS: host }
  const [one, two] = [await user(env), await user(env)]
  const inProject = (who: typeof one, ...words: string[]) =>
    who.run(['skill', ...words], { cwd: who.project })

  const install = await inProject(one, 'install', reference, '--scope', 'project', '--allow-unsigned')
  expect(install, install.stderr).toMatchObject({ code: 0 })
  const lock = await readFile(join(one.project, 'keelson.lock.yaml'), 'utf8')
  expect(lock).toContain(`digest: ${first}`)
  expect(lock).toContain(`source: ${reference}`)

  const second = await repository.commit({
    'tidy/SKILL.md': skillFile('tidy', 'allowed-tools: Bash\n'),
    'tidy/new.md': 'new',
  })
  await cp(join(one.project, 'keelson.lock.yaml'), join(two.project, 'keelson.lock.yaml'))
  expect((await inProject(two, 'sync', '--check')).code).toBe(2)
  expect(await inProject(two, 'sync')).toMatchObject({ code: 4, stdout: '' })
  const sync = await inProject(two, 'sync', '--yes', '--allow-unsigned', '--format', 'json')
  expect(sync, sync.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse(sync.stdout)).toEqual({ missing: ['tidy'], installed: ['tidy'] })
  expect(await treeOf(join(two.project, '.cursor'))).toEqual(await treeOf(join(one.project, '.cursor')))
  expect((await inProject(two, 'sync', '--check')).code).toBe(0)

  const preview = await inProject(two, 'upgrade', '--preview')
  expect(preview).toMatchObject({ code: 0 })
  for (const line of ['files added: new.md', 'files removed: old.md', 'may use without asking, newly: Bash'])
    expect(preview.stdout).toContain(line)
  expect((await inProject(two, 'upgrade', '--check')).code).toBe(2)
  expect((await inProject(two, 'upgrade')).code).toBe(4)
  const upgrade = await inProject(two, 'upgrade', '--yes', '--format', 'json')
  expect(JSON.parse(upgrade.stdout).outcomes).toMatchObject([
    { name: 'tidy', status: 'upgraded', old_digest: first, new_digest: second },
  ])
  expect(Object.keys(await treeOf(join(two.project, '.cursor')))).toEqual([
    'skills/tidy/SKILL.md',
    'skills/tidy/new.md',
  ])

  expect(await inProject(two, 'uninstall', 'tidy', '--scope', 'project')).toMatchObject({
    code: 0,
    stdout: '',
  })
  expect(Object.keys(await treeOf(two.project))).toEqual(['keelson.lock.yaml'])
}, 180_000)

test('list and info show what is installed, as text and as JSON', async () => {
  const { run } = await user()
  expect((await run(['skill', 'list'])).stdout).toBe('No skills are installed.\n')
  expect((await run(['skill', 'list', '--format', 'json'])).stdout).toBe('[]\n')
  await run(['skill', 'build', join(fixtures, 'haiku-writer')])
  const installed = await run(['skill', 'install', 'haiku-writer', '--allow-unsigned'])
  expect(installed, installed.stderr).toMatchObject({ code: 0 })

  const [title, row] = (await run(['skill', 'ls'])).stdout.split('\n')
  expect(title?.split(/\s{2,}/)).toEqual(['NAME', 'VERSION', 'SCOPE', 'STATUS', 'CLIENTS', 'REFERENCE'])
  expect(row).toMatch(/^haiku-writer .*user +installed +cursor/)
  const [listed] = JSON.parse((await run(['skill', 'list', '--format', 'json'])).stdout)
  expect(listed).toMatchObject({ metadata: { name: 'haiku-writer' }, scope: 'user', managed: false })

  expect((await run(['skill', 'info', 'haiku-writer'])).stdout).toContain('Signature: not signed\n')
  const info = JSON.parse((await run(['skill', 'info', 'haiku-writer', '--format', 'json'])).stdout)
  expect(info).toEqual({ metadata: listed.metadata, installed_skill: listed, unsigned: true })
  expect(await run(['skill', 'info', 'haiku-writr'])).toMatchObject({ code: 1 })
}, 180_000)

test.each([
  [['install'], 2, 'Usage: keelson skill install'],
  [['install', 'x', '--scope', 'team'], 2, '--scope takes one of user, project'],
  [['install', 'x', '--scope', 'user', '--project-root', '.'], 2, 'requires the scope "project"'],
  [['install', 'x', '--scope', 'project'], 1, 'neither it nor a folder above it has .git'],
  [['install', 'no-such-skill'], 1, 'There is no skill "no-such-skill"'],
  [['uninstall', 'no-such-skill'], 1, 'is not installed'],
  [['sync', '--project-root', 'nowhere'], 1, 'it does not exist'],
  [['sync', '--adopt', '--prune'], 2, 'exclude each other'],
  [['list', '--group', 'nobody'], 1, 'There is no group "nobody"'],
])(
  'skill %j ends with %i and says why',
  async (words, code, message) => {
    const { run } = await user()

    const shown = await run(['skill', ...words])

    expect(shown).toMatchObject({ code, stdout: '' })
    expect(shown.stderr).toContain(message)
    expect(shown.stderr).not.toContain('defect')
  },
  60_000,
)
