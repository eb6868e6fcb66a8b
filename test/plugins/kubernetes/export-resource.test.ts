import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseYaml } from '../../../src/lib/parse-yaml.ts'
import { findPaths } from '../../../src/paths.ts'
import { type KeelsonUser, keelsonUser } from '../../support/keelson.ts'

const fixture = (name: string) =>
  readFile(new URL(`../../../fixtures/kubernetes/${name}`, import.meta.url), 'utf8')

/** A user who has a workload with that run config. */
async function userWith(text: string): Promise<{ user: KeelsonUser; name: string }> {
  const user = await keelsonUser()
  const { name } = JSON.parse(text)
  const path = join(findPaths(user.env).state, 'runconfigs', `${name}.json`)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, text, { mode: 0o600 })
  return { user, name }
}

describe.each([
  {
    kind: 'MCPServer',
    file: 'mcp-server',
    lost: [
      'audit_config.log_file',
      'authz_config.cedar.multi_valued_claims',
      'env_vars.BANNER',
      'isolate_network',
      'of_a_later_version',
      'permission_profile',
      'resources',
      'session_ttl',
      'tools_filter',
      'volumes',
    ],
  },
  { kind: 'MCPRemoteProxy', file: 'mcp-remote-proxy', lost: ['oidc_config'] },
])('$kind', ({ kind, file, lost }) => {
  test('the resource is the golden file, and what it cannot hold is named', async () => {
    const { user, name } = await userWith(await fixture(`${file}.json`))
    const { code, stdout, stderr } = await user.run(['export', name, '--format', 'k8s'])
    expect(stderr).toContain(`The ${kind} cannot hold these members`)
    expect(stderr.split('\n').flatMap(line => /^ {2}(\S+)$/.exec(line)?.[1] ?? [])).toEqual(lost)
    expect(code).toBe(0)
    expect(stdout).toBe(await fixture(`${file}.yaml`))
  })

  test('with --strict, losses fail and are named', async () => {
    const { user, name } = await userWith(await fixture(`${file}.json`))
    const { code, stdout, stderr } = await user.run(['export', name, '--format', 'k8s', '--strict'])
    expect(code).toBe(1)
    expect(stdout).toBe('')
    for (const member of lost) expect(stderr.replace(/\s+/g, ' ')).toContain(member)
  })
})

test('the Secret that has to be made is named with its keys, and no value is written', async () => {
  const { user, name } = await userWith(await fixture('mcp-server.json'))
  const { stdout, stderr } = await user.run(['export', name, '--format', 'k8s'])
  expect(stderr).toContain('create the Secret "my-notes-secrets"')
  expect(stderr).toContain('TOKEN: the value of the secret notes token')
  expect(stdout).not.toContain('notes token')
})

test('--strict passes where nothing is lost', async () => {
  const { user, name } = await userWith(
    JSON.stringify({ name: 'plain', image: 'example/plain:1', transport: 'stdio', port: 0 }),
  )
  expect(await user.run(['export', name, '--format', 'k8s', '--strict'])).toMatchObject({
    code: 0,
    stderr: '',
  })
})

test('--strict without --format k8s is refused', async () => {
  const user = await keelsonUser()
  expect(await user.run(['export', 'x', '--strict'])).toMatchObject({ code: 2 })
})

test('text of strangers is only ever a string', async () => {
  const hostile = [
    'yes',
    '1:30',
    '0o7',
    '~',
    '{}',
    'a: b',
    '---',
    '\u2028',
    '\u0085',
    '!!binary x',
    '&a',
    '*a',
    '<<',
    '\ufeff',
  ]
  const text = JSON.stringify({
    ...{ name: 'x', image: 'example/x:1\nkind: Pod', transport: 'stdio', port: 0 },
    cmd_args: hostile,
    env_vars: Object.fromEntries(hostile.map((value, index) => [`E${index}`, value])),
  })
  const { user } = await userWith(text)
  const { stdout } = await user.run(['export', 'x', '--format', 'k8s'])
  const { spec } = parseYaml(stdout) as { spec: { args: unknown; image: unknown } }
  expect(spec.args).toEqual(hostile)
  expect(spec.image).toBe('example/x:1\nkind: Pod')
  expect(stdout).not.toMatch(/[\u0080-\u009f\u2028\u2029\ufeff]/)
})
