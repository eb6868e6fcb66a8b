import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type KeelsonUser, keelsonUser } from '../../support/keelson.ts'
import { writePlugin } from '../plugin-manager/plugin-folder.ts'

async function userWithWorkloads(...names: string[]): Promise<KeelsonUser> {
  const user = await keelsonUser()
  const folder = join(user.home, '.local/state/keelson/runconfigs')
  await mkdir(folder, { recursive: true })
  for (const name of names) await writeFile(join(folder, `${name}.json`), 'not even JSON')
  return user
}

/** What is offered for the last word, and what the shell adds. */
async function offered(user: KeelsonUser, ...words: string[]): Promise<{ words: string[]; files: string }> {
  const { code, stdout, stderr } = await user.run(['__complete', '--', ...words])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const lines = stdout.trimEnd().split('\n')
  return { files: lines.pop() ?? '', words: lines.map(line => line.split('\t')[0] ?? '') }
}

test('the first word is a command; hidden ones are not offered', async () => {
  const { words, files } = await offered(await keelsonUser(), '')

  expect(words).toEqual(expect.arrayContaining(['completion', 'help', 'plugin', 'run', 'version']))
  expect(words).not.toContain('__complete')
  expect(words).toContain('supervisor')
  expect(files).toBe(':none')
})

test('a started word narrows what is offered', async () => {
  expect((await offered(await keelsonUser(), 'vers')).words).toEqual(['version'])
})

test('behind a group of commands come its members', async () => {
  expect((await offered(await keelsonUser(), 'plugin', '')).words).toEqual(['add', 'list', 'remove'])
})

test('`help` is followed by commands', async () => {
  expect((await offered(await keelsonUser(), 'help', 'plugin', 'a')).words).toEqual(['add'])
})

test('global flags before the command do not hide it', async () => {
  expect((await offered(await keelsonUser(), '--debug', 'plugin', 're')).words).toEqual(['remove'])
})

test('flags are offered with what they mean; one that was given is not offered again', async () => {
  const user = await keelsonUser()

  const { stdout } = await user.run(['__complete', '--', 'plugin', 'list', '--f'])

  expect(stdout).toBe('--format\toutput format\n:none\n')
  expect((await offered(user, 'plugin', 'list', '--format', 'json', '--f')).words).toEqual([])
})

test('a flag that may be repeated is offered again', async () => {
  const { words } = await offered(await keelsonUser(), 'run', '-e', 'A=1', '--env', 'B=2', '--env')

  expect(words).toEqual(expect.arrayContaining(['--env']))
})

test('the values of a choice are offered, behind a space and behind =', async () => {
  const user = await keelsonUser()

  expect((await offered(user, 'plugin', 'list', '--format', '')).words).toEqual(['json', 'text'])
  expect((await offered(user, 'plugin', 'list', '--format=t')).words).toEqual(['--format=text'])
})

test('a flag that takes a file leaves it to the shell', async () => {
  const user = await keelsonUser()

  expect(await offered(user, 'run', '--env-file', '')).toEqual({ words: [], files: ':file' })
  expect(await offered(user, 'run', '--env-file=./x')).toEqual({ words: [], files: ':file' })
})

test('stop completes workloads, stopped ones included, and each only once', async () => {
  const user = await userWithWorkloads('alpha', 'beta')

  expect((await offered(user, 'stop', '')).words).toEqual(['alpha', 'beta'])
  expect((await offered(user, 'stop', 'alpha', '')).words).toEqual(['beta'])
})

test('status completes one workload', async () => {
  const user = await userWithWorkloads('alpha', 'beta')

  expect((await offered(user, 'status', 'a')).words).toEqual(['alpha'])
  expect((await offered(user, 'status', 'alpha', '')).words).toEqual([])
})

test('logs completes workloads and prune', async () => {
  expect((await offered(await userWithWorkloads('alpha'), 'logs', '')).words).toEqual(['prune', 'alpha'])
})

test('without any workload there is nothing to offer, and no error', async () => {
  expect(await offered(await keelsonUser(), 'rm', '')).toEqual({ words: [], files: ':none' })
})

test('skill commands complete what is installed, for the user and in projects', async () => {
  const user = await keelsonUser()
  const folder = join(user.home, '.local/share/keelson/skills/installed')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'user.json'), JSON.stringify({ skills: { pdf: {}, fonts: {} } }))
  await writeFile(join(folder, 'a1b2.json'), JSON.stringify({ skills: { pdf: {}, zip: {} } }))
  await writeFile(join(folder, 'broken.json'), 'not even JSON')

  expect((await offered(user, 'skill', 'uninstall', '')).words).toEqual(['fonts', 'pdf', 'zip'])
  expect((await offered(user, 'skill', 'upgrade', 'pdf', 'z')).words).toEqual(['zip'])
})

test('the shells are offered to `completion`', async () => {
  const { words } = await offered(await keelsonUser(), 'completion', '')

  expect(words).toEqual(['bash', 'fish', 'powershell', 'zsh'])
})

test('after -- only files are completed', async () => {
  expect(await offered(await keelsonUser(), 'run', 'x', '--', '--tr')).toEqual({ words: [], files: ':file' })
})

test.each([
  [['nosuch', '']],
  [['plugin', 'nosuch', '']],
  [['version', '--nosuch=']],
  [['version', '-zz', '']],
  [['version', 'a', 'b', '']],
])('words that mean nothing offer nothing: %j', async words => {
  expect((await offered(await keelsonUser(), ...words)).words).toEqual([])
})

test('--new-word stands for an empty last word', async () => {
  const user = await keelsonUser()

  const { stdout } = await user.run(['__complete', '--new-word', '--no-descriptions', '--', 'plugin'])

  expect(stdout).toBe('add\nlist\nremove\n:none\n')
})

test('commands of added plugins come from their manifests; their code does not run', async () => {
  const user = await keelsonUser()
  const code = `import { writeFileSync } from 'node:fs'; writeFileSync('${user.home}/ran', '')`
  await writePlugin(join(user.home, 'p'), { code, keelson: { provides: ['flags', 'runtimes'] } })
  await user.run(['plugin', 'add', './p', '--yes'])

  expect((await offered(user, 'hel')).words).toEqual(['hello', 'help'])
  expect((await offered(user, 'hello', '')).words).toEqual([])
  expect((await offered(user, 'run', '--na')).words).toEqual(['--name'])
  const help = await user.run(['--help'])

  expect(help.stdout).toMatch(/hello\s+say hello \(hello-plugin\)/)
  expect((await user.run(['run', '--help'])).stdout).toContain('may take more flags: hello-plugin')
  const { readdir } = await import('node:fs/promises')
  expect(await readdir(user.home)).not.toContain('ran')
})

test('an unknown shell is refused, with the nearest name', async () => {
  const { code, stdout, stderr } = await (await keelsonUser()).run(['completion', 'bahs'])

  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('Did you mean bash?')
})

test('names are offered for what a flag or an argument wants', async () => {
  const user = await userWithWorkloads('alpha')
  expect(await user.run(['group', 'create', 'work'])).toMatchObject({ code: 0 })
  expect((await offered(user, 'run', '--group', '')).words).toEqual(['default', 'work'])
  expect((await offered(user, 'run', '--runtime=')).words).toContain('--runtime=process')
  expect((await offered(user, 'client', 'register', 'claude-c')).words).toEqual(['claude-code'])
  expect((await offered(user, 'mcp', 'list', '--server', 'al')).words).toEqual(['alpha'])
  expect((await offered(user, 'registry', 'info', 'gith')).words).toContain('github')
  user.env.KEELSON_SECRETS_PASSWORD = 'a password of the test'
  await user.run(['secret', 'provider', 'encrypted'])
  await user.run(['secret', 'set', 'TOKEN'], { input: 'planted' })
  expect((await offered(user, 'secret', 'get', '')).words).toEqual(['TOKEN'])
  expect((await offered(user, 'mcp', 'call', '--server', 'alpha', '')).words).toEqual([])
})
