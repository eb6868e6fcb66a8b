import { expect, test } from 'vitest'
import { exactVersion, isRequirement, parsePackageReference } from '../../../src/lib/package-reference.ts'

test.each([
  ['npx', '@scope/name@1.2.3', { name: '@scope/name', wanted: '1.2.3' }, '1.2.3'],
  ['npx', 'name', { name: 'name' }, undefined],
  ['npx', 'name@latest', { name: 'name' }, undefined],
  ['npx', 'name@^1.2', { name: 'name', wanted: '^1.2' }, undefined],
  ['npx', 'name@next', { name: 'name', wanted: 'next' }, undefined],
  ['uvx', 'name[a,b]==1.0', { name: 'name', extras: ['a', 'b'], wanted: '1.0' }, '1.0'],
  ['uvx', 'name@1.0rc1', { name: 'name', wanted: '1.0rc1' }, '1.0rc1'],
  ['go', 'example.test/x/y@v1.2.3', { name: 'example.test/x/y', wanted: 'v1.2.3' }, 'v1.2.3'],
  ['go', 'example.test/x@main', { name: 'example.test/x', wanted: 'main' }, undefined],
] as const)('%s://%s', (scheme, text, expected, exact) => {
  const reference = parsePackageReference(scheme, text)
  expect(reference).toEqual({ scheme, extras: [], ...expected })
  expect(reference && exactVersion(reference)).toBe(exact)
})

test.each([
  ['npx', ''],
  ['npx', '-g'],
  ['npx', '@scope'],
  ['npx', 'a b'],
  ['npx', 'name@file:../x'],
  ['uvx', 'name>=1'],
  ['uvx', 'name[a'],
  ['uvx', 'git+https://example.test/x'],
  ['go', 'name'],
  ['go', 'example.test/x/../y'],
  ['go', 'example.test/x@$(id)'],
] as const)('%s://%s is none', (scheme, text) => {
  expect(parsePackageReference(scheme, text)).toBeUndefined()
})

test('a requirement is a name with versions, and nothing that pip would take for more', () => {
  expect(
    ['mcp', 'mcp<2', 'mcp[cli] >= 1.0, < 2', 'a==1.*', 'a~=1.4'].filter(text => !isRequirement(text)),
  ).toEqual([])
  const others = ['', '-r x', 'x @ http://y', 'x; python_version<"3"', 'x\n-r y', './x', 'x<']
  expect(others.filter(isRequirement)).toEqual([])
})
