import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DockerRegistry, startDockerRegistry } from '../../support/docker-registry.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { ociClient } from '../oci/oci-client.ts'

let registry: DockerRegistry
beforeAll(async () => {
  registry = await startDockerRegistry()
})
afterAll(() => registry.stop())

const source = new URL('../../../fixtures/skills/csv-report', import.meta.url).pathname
const quiet = { stdout: '', stderr: '' }

async function withDraft(text: string) {
  const user = await keelsonUser()
  await mkdir(join(user.home, 'plan'))
  await writeFile(join(user.home, 'plan/SKILL.md'), text)
  return user
}

test('validate says that a skill is valid', async () => {
  const user = await keelsonUser()

  expect(await user.run(['skill', 'validate', source])).toEqual({
    code: 0,
    stdout: `${source} is a valid skill.\n`,
    stderr: '',
  })
  expect(await user.run(['skill', 'validate', source, '--format', 'json'])).toMatchObject({
    code: 0,
    stdout: '{\n  "valid": true\n}\n',
  })
})

test('validate prints a line for each problem, and exits with 1', async () => {
  const user = await withDraft('---\nname: Plan\nallowed-tools: a, b\n---\n')
  const text = await user.run(['skill', 'validate', './plan'])
  const json = await user.run(['skill', 'validate', 'plan', '--format=json'])

  expect(text).toEqual({
    code: 1,
    stdout: [
      'error: SKILL.md, line 1: "description" is missing. Say what the skill does and when to use it.',
      'error: SKILL.md, line 2: the name "Plan" is not allowed: it has other characters than a-z, 0-9 and "-". For example: plan',
      'error: SKILL.md, line 2: the name "Plan" is not that of its folder, "plan". Rename one of them.',
      'warning: SKILL.md, line 3: "allowed-tools" is separated by commas, which not every client understands. Write: allowed-tools: a b',
      '',
    ].join('\n'),
    stderr: '',
  })
  expect(json.code).toBe(1)
  expect(JSON.parse(json.stdout)).toEqual({
    valid: false,
    errors: expect.any(Array),
    warnings: expect.any(Array),
  })
})

test('a build is made, listed and removed', async () => {
  const user = await keelsonUser()

  expect(await user.run(['skill', 'build', source])).toEqual({ code: 0, stdout: 'csv-report\n', stderr: '' })
  expect(await user.run(['skill', 'build', source, '-t', 'second'])).toMatchObject({
    code: 0,
    stdout: 'second\n',
  })
  const { stdout } = await user.run(['skill', 'builds'])
  expect(stdout).toMatch(
    /^TAG {2,}DIGEST {2,}NAME {2,}VERSION\ncsv-report +sha256:[0-9a-f]{12}\.\.\. +csv-report +1\.10\nsecond /,
  )
  expect(JSON.parse((await user.run(['skill', 'builds', '--format', 'json'])).stdout)).toEqual(
    ['csv-report', 'second'].map(tag => ({
      tag,
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      name: 'csv-report',
      description: expect.any(String),
      version: '1.10',
    })),
  )
  expect(await user.run(['skill', 'builds', 'remove', 'second'])).toEqual({
    code: 0,
    stdout: 'Removed the build second.\n',
    stderr: '',
  })
  expect(await user.run(['skill', 'builds', 'remove', 'second'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^Error: There is no build with the tag "second"\.\n.*skill builds/),
  })
})

test('builds of nobody are a heading, or an empty list', async () => {
  const user = await keelsonUser()

  expect((await user.run(['skill', 'builds'])).stdout).toBe('TAG   DIGEST   NAME   VERSION\n')
  expect((await user.run(['skill', 'builds', '--format', 'json'])).stdout).toBe('[]\n')
})

test('a skill that cannot be built is refused in one line, and what to do in another', async () => {
  const user = await withDraft('---\nname: Plan\n---\n')

  expect(await user.run(['skill', 'build', 'plan'])).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'Error: The skill cannot be built: SKILL.md, line 2: the name "Plan" is not allowed: it has other characters than a-z, 0-9 and "-". For example: plan\n' +
      '`keelson skill validate` lists all that is wrong with it.\n',
  })
})

test('a push says nothing but its steps; signed or not is for the user to say', async () => {
  const user = await keelsonUser()
  const reference = `${registry.host}/commands/csv-report:1`
  await user.run(['skill', 'build', source, '--tag', reference])

  expect(await user.run(['skill', 'push', reference])).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'Error: It is not said how to sign what is pushed.\nGive --key FILE, or --identity-token TOKEN, or --no-sign.\n',
  })
  expect(await ociClient().findManifest(reference)).toBeUndefined()
  expect(await user.run(['skill', 'push', reference, '--no-sign'])).toEqual({
    ...quiet,
    code: 0,
    stderr: 'Sending the files\nSending the description\n',
  })
  expect((await ociClient().manifest(reference)).kind).toBe('index')
})
