import { expect, test } from 'vitest'
import { type InstanceFacts, toInstanceSpec } from '../../../plugins/supervisor/to-instance-spec.ts'
import { toMounts } from '../../../src/contracts/mounts.ts'
import { createLog } from '../../../src/log.ts'
import { stdio, workload } from './hosting.ts'

const facts = (more: Partial<InstanceFacts> = {}): InstanceFacts => ({
  proxyPort: 4000,
  contained: true,
  targetPort: 8080,
  mounts: [],
  env: {},
  secrets: {},
  ...more,
})
const lines: string[] = []
const log = createLog({ write: line => lines.push(line), human: true, debug: false })

test('an HTTP server in a container hears where to listen, and its port is published on loopback', () => {
  const spec = toInstanceSpec(workload('web'), facts())
  expect(spec.env).toEqual({
    MCP_TRANSPORT: 'streamable-http',
    MCP_PORT: '8080',
    FASTMCP_PORT: '8080',
    MCP_HOST: '0.0.0.0',
  })
  expect(spec.ports).toEqual([{ instancePort: 8080, address: '127.0.0.1' }])
  expect(spec.restart).toBe('unless-stopped')
})

test('an engine never brings an isolated server up by itself, before its way out is closed', () => {
  const isolated = workload('web', { isolate_network: true })
  expect(toInstanceSpec(isolated, facts()).restart).toBe('never')
})

test('an engine brings nothing back that may have changed its own folders', () => {
  const restart = (readOnly: boolean) =>
    toInstanceSpec(workload('web'), facts({ mounts: [{ source: '/p', target: '/p', readOnly }] })).restart
  expect([restart(true), restart(false)]).toEqual(['unless-stopped', 'never'])
})

test('outside a container a server listens on loopback only', () => {
  expect(toInstanceSpec(workload('web'), facts({ contained: false })).env.MCP_HOST).toBe('127.0.0.1')
})

test('on the network of the host nothing is published and the server listens on loopback', () => {
  const config = workload('web', { permission_profile: { network: { mode: 'host' } }, publish: ['9000:90'] })
  const spec = toInstanceSpec(config, facts())
  expect(spec).toMatchObject({ network: 'host', ports: [] })
  expect(spec.env.MCP_HOST).toBe('127.0.0.1')
})

test('a given target host is where the server listens and its port is bound', () => {
  const spec = toInstanceSpec(workload('web', { target_host: '192.0.2.7' }), facts())
  expect(spec.env.MCP_HOST).toBe('192.0.2.7')
  expect(spec.ports).toEqual([{ instancePort: 8080, address: '192.0.2.7' }])
})

test('a stdio server hears of no port', () => {
  const spec = toInstanceSpec(stdio('chat'), facts({ targetPort: 0 }))
  expect(spec).toMatchObject({ env: { MCP_TRANSPORT: 'stdio' }, ports: [], stdio: true, restart: 'never' })
})

test("the user's variables win over those found at start, and these over ours", () => {
  const config = workload('web', { env_vars: { MCP_PORT: '1', A: 'user' } })
  const spec = toInstanceSpec(config, facts({ env: { A: 'file', MCP_HOST: 'file', B: 'file' } }))
  expect(spec.env).toMatchObject({ MCP_PORT: '1', A: 'user', MCP_HOST: 'file', B: 'file' })
})

test('our labels win over labels of the same name', () => {
  const config = workload('web', {
    container_labels: { team: 'a', 'keelson-name': 'forged' },
    base_name: 'base',
  })
  expect(toInstanceSpec(config, facts()).labels).toEqual({
    team: 'a',
    keelson: 'true',
    'keelson-network-isolation': 'false',
    'keelson-name': 'web',
    'keelson-basename': 'base',
    'keelson-transport': 'streamable-http',
    'keelson-port': '4000',
  })
})

test('published ports and limits are read as the flags take them', () => {
  const config = workload('web', { publish: ['9000:90', '91'], resources: { memory: '512m', cpus: '0.5' } })
  const spec = toInstanceSpec(config, facts())
  expect(spec.ports).toEqual([
    { instancePort: 90, address: '127.0.0.1', hostPort: 9000 },
    { instancePort: 91, address: '127.0.0.1' },
    { instancePort: 8080, address: '127.0.0.1' },
  ])
  expect(spec.limits).toEqual({ memory: 536_870_912, cpus: 0.5 })
})

test.each(['0', 'x', '1:2:3', '70000', '80:', '-1'])('publish "%s" is refused', text => {
  expect(() => toInstanceSpec(workload('web', { publish: [text] }), facts())).toThrow(/publish/)
})

test.each([{ memory: 'lots' }, { cpus: 'two' }])('resources %j are refused', resources => {
  const named = new RegExp(`resources.${Object.keys(resources)[0]}`)
  expect(() => toInstanceSpec(workload('web', { resources }), facts())).toThrow(named)
})

test('volumes and the profile become mounts; written wins over read', () => {
  const config = workload('web', {
    volumes: ['/data:/in/data', '/etc/x:/in/x:ro'],
    permission_profile: { read: ['/opt', '/etc/x:/in/y', '/a:/both'], write: ['/a:/both', '/tmp/out:/out'] },
  })
  expect(toMounts(config, log)).toEqual([
    { source: '/data', target: '/in/data', readOnly: false },
    { source: '/etc/x', target: '/in/x', readOnly: true },
    { source: '/opt', target: '/opt', readOnly: true },
    { source: '/etc/x', target: '/in/y', readOnly: true },
    { source: '/a', target: '/both', readOnly: false },
    { source: '/tmp/out', target: '/out', readOnly: false },
  ])
})

test('a resource URI of a profile is left out with a warning', () => {
  expect(toMounts(workload('web', { permission_profile: { read: ['volume://v:/in'] } }), log)).toEqual([])
  expect(lines.at(-1)).toContain('volume://v:/in')
})

test.each(['relative:/in', '/a:in', '/a:/b:/c', '/a;id:/in', '/a$(id):/in', '/a\0:/in'])(
  'the mount %j is refused',
  text => {
    const refused = { code: 'mount_wrong' }
    expect(() => toMounts(workload('web', { volumes: [text] }), log)).toThrow(
      expect.objectContaining(refused),
    )
    expect(() => toMounts(workload('web', { permission_profile: { read: [text] } }), log)).toThrow(
      expect.objectContaining(refused),
    )
  },
)
