import { expect, test } from 'vitest'
import { instanceSection } from '../../../plugins/workloads/instance-section.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { checkSection } from '../../../src/sections.ts'

const check = (members: Partial<RunConfig>) =>
  checkSection(instanceSection, {
    name: 'w',
    transport: 'stdio',
    port: 0,
    schema_version: 'v0.1.0',
    ...members,
  })

test.each(['a b', '--privileged', '-v', 'a/b', 'a\nb', '.hidden'])(
  '%j is not the name of a container',
  name => {
    expect(() => check({ container_name: name })).toThrow('container_name')
  },
)

test.each([
  ['keelson-owner=zz', ''],
  ['a\nb', 'c'],
  ['a', 'b c'],
  ['', 'b'],
])('the label %j: %j is refused', (key, value) => {
  expect(() => check({ container_labels: { [key]: value } })).toThrow('container_labels')
})

test('ordinary names and labels pass', () => {
  check({
    container_name: 'my-server_1.2',
    container_labels: { team: 'a', 'example.com/tier': 'b', empty: '' },
  })
})
