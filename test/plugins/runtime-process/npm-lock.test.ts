import { expect, test } from 'vitest'
import { isVersion, lockProblem } from '../../../plugins/runtime-process/packages/npm-lock.ts'
import { PUBLIC_NPM } from '../../../src/lib/public-registries.ts'

const registries = ['https://npm.example/base/', 'http://10.0.0.5:4873']

test.each(['1.0.0', '^1 || >=2.0.0-rc.1 <3', '*', '', 'latest', '~1.2', 'npm:other@^1', 'npm:@scope/other'])(
  '"%s" is a version',
  wanted => expect(isVersion(wanted)).toBe(true),
)

test.each([
  ...[
    'owner/repo',
    'github:owner/repo',
    'git+ssh://git@host/x',
    'https://host/x.tgz',
    'file:../x',
    'link:../x',
  ],
  ...[
    '../x',
    './x',
    '~/x',
    'x.tgz',
    'x.tar.gz',
    'C:\\x',
    'workspace:*',
    'npm:x@https://host/x.tgz',
    'npm:../x',
  ],
])('"%s" is not a version', wanted => expect(isVersion(wanted)).toBe(false))

test('packages of the registries, and what is bundled in them, are installed', () => {
  const packages = {
    '': { dependencies: { a: '^1.0.0' } },
    'node_modules/a': { resolved: 'https://npm.example/a/-/a-1.0.0.tgz' },
    'node_modules/a/node_modules/@b/c': { inBundle: true },
    'node_modules/d': { resolved: 'http://10.0.0.5:4873/d.tgz' },
    'node_modules/e': { resolved: `${PUBLIC_NPM}e/-/e-1.0.0.tgz` },
  }
  expect(lockProblem(packages, { registries })).toBeUndefined()
})

test.each<[string, object]>([
  ['another host', { resolved: 'https://evil.example/a.tgz' }],
  ['another port', { resolved: 'http://10.0.0.5:80/a.tgz' }],
  ['another scheme', { resolved: 'http://npm.example/a.tgz' }],
  ['a host that only begins so', { resolved: 'https://npm.example.evil.example/a.tgz' }],
  ['a host behind a login', { resolved: 'https://npm.example@evil.example/a.tgz' }],
  ['git', { resolved: 'git+ssh://git@npm.example/a.git#0123' }],
  ['a file', { resolved: 'file:../a.tgz' }],
  ['nowhere', {}],
  ['a link', { link: true, resolved: 'https://npm.example/a.tgz' }],
])('a package from %s is refused', (_, entry) => {
  expect(lockProblem({ 'node_modules/a': entry }, { registries })).toMatch(/^a /)
})

test('a package that lies beside the folder is refused', () => {
  const entry = { resolved: 'https://npm.example/a.tgz' }
  expect(lockProblem({ '../a': entry }, { registries })).toMatch(/is a link/)
  expect(lockProblem({ '../node_modules/a': entry }, { registries })).toMatch(/is a link/)
})

test('the archive that the user named is the only file', () => {
  const packages = {
    '': { dependencies: { plugin: 'file:plugin.tgz' } },
    'node_modules/plugin': { resolved: 'file:plugin.tgz' },
  }
  expect(lockProblem(packages, { registries, archive: 'plugin.tgz' })).toBeUndefined()
  expect(lockProblem(packages, { registries })).toMatch(/plugin/)
  const deep = { ...packages, 'node_modules/plugin': { dependencies: { x: 'file:plugin.tgz' } } }
  expect(lockProblem(deep, { registries, archive: 'plugin.tgz' })).toMatch(/plugin needs x/)
})
