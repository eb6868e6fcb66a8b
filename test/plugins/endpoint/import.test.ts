import { expect, test } from 'vitest'
import { describeImported } from '../../../plugins/endpoint/import/describe-imported.ts'
import { readVmcpConfig } from '../../../plugins/endpoint/import/read-vmcp-config.ts'

const read = (text: string) => readVmcpConfig(text, 'vmcp.yaml')

const SMALL = `
name: team-vmcp
groupRef: team
incomingAuth: { type: anonymous }
outgoingAuth: { source: inline }
aggregation: { conflictResolution: prefix, conflictResolutionConfig: { prefixFormat: "{workload}_" } }
`

test('a group with prefixes is read, and nothing is left behind', async () => {
  expect(await read(SMALL)).toEqual({
    name: 'team-vmcp',
    settings: { group: 'team', naming: 'prefix' },
    leftBehind: [],
  })
})

test('servers and timeouts are read; what is not supported is named with what to do', async () => {
  const imported = await read(`
name: all
groupRef: team
backends: [{ name: a, url: "http://a/mcp", transport: sse }, { name: b, url: "http://b/mcp", transport: sse }]
incomingAuth: { type: oidc, oidc: { issuer: "https://login.example", audience: x }, authz: { type: none } }
aggregation: { conflictResolution: priority, conflictResolutionConfig: { priorityOrder: [b, a] }, excludeAllTools: false }
operational: { timeouts: { default: 45s, perWorkload: { b: 1m30s, a: soon } } }
compositeTools: [{ name: deploy, description: d, steps: [{ id: build, tool: a.build }] }]
optimizer: {}
optimiser: {}
`)
  expect(imported.settings).toEqual({
    servers: ['a', 'b'],
    naming: 'plain',
    call_timeout: 45,
    call_timeouts: { b: 90 },
    tool_mode: 'search',
    composite_tools: [{ name: 'deploy', description: 'd', steps: [{ id: 'build', tool: 'a.build' }] }],
  })
  expect(imported.leftBehind.map(line => line.split(':', 1)[0])).toEqual([
    'incomingAuth.oidc',
    'aggregation.conflictResolutionConfig.priorityOrder',
    'optimiser',
  ])
  expect(describeImported(imported)).toContain('  calls of b may take 90 s')
})

test.each([
  ['a: [', 'vmcp.yaml is not a configuration of a vMCP'],
  ['[]', 'it is not an object'],
  ['groupRef: x', 'it has no name'],
  ['name: x', 'it has no "groupRef"'],
  ['{ name: x, backends: 1 }', 'its "backends" are not a list'],
  [
    '{ name: x, groupRef: g, compositeTools: [{ name: a, description: d, steps: [] }] }',
    '"a": it has no steps',
  ],
  ['{ name: x, backends: [{}] }', 'the backend number 1 has no name'],
])('%j is refused', async (text, problem) => {
  await expect(read(text)).rejects.toThrow(problem)
})
