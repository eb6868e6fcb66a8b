import { expect, test } from 'vitest'
import { choosePublished } from '../../../plugins/workloads/choose-published.ts'
import { describeIsolation, describeVerification } from '../../../plugins/workloads/describe-isolation.ts'
import { toWorkload } from '../../../plugins/workloads/to-workload.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { createLog } from '../../../src/log.ts'

const log = createLog({ write: () => undefined, human: false, debug: false })
const config = (more: Partial<RunConfig>): RunConfig => ({
  schema_version: 'v0.1.0',
  name: 'web',
  image: 'some/image',
  runtime: 'docker',
  transport: 'stdio',
  port: 4000,
  ...more,
})
const outbound = (allow_host: string[], allow_port?: number[]) => ({
  permission_profile: { network: { outbound: { allow_host, ...(allow_port ? { allow_port } : {}) } } },
})

test.each<[Partial<RunConfig>, string]>([
  [{}, 'docker; reaches any host through the egress proxy; no files of yours'],
  [outbound([]), 'docker; reaches no host; no files of yours'],
  [outbound(['api.example.com'], [443]), 'docker; reaches api.example.com at port 443; no files of yours'],
  [{ isolate_network: false }, 'docker; reaches all of the network, not isolated; no files of yours'],
  [{ permission_profile: { network: { mode: 'none' } } }, 'docker; reaches no network; no files of yours'],
  [
    {
      volumes: ['/home/me/notes:/notes:ro', '/tmp/x:/x'],
      resources: { memory: '512m', cpus: '0.5' },
      ...outbound([]),
    },
    'docker; reaches no host; mounts /home/me/notes (read-only), /tmp/x; at most 512m of memory; at most 0.5 cores',
  ],
  [{ runtime: 'process', no_sandbox: true }, 'none (--no-sandbox): it can do everything that you can'],
])('the isolation of %j is said in one line', (more, line) => {
  expect(describeIsolation(config(more), { isInternal: false, log })).toBe(line)
})

test('nothing is said of what starts no program', () => {
  expect(describeIsolation(config({}), { isInternal: true, log })).toBeUndefined()
})

test('who has signed the image is said, and whether that was checked', () => {
  const image_signer = { identity: 'build@example.com', verified: true }
  const unchecked = { ...image_signer, verified: false }
  expect(describeVerification(config({ image_signer }))).toBe('signed by build@example.com')
  expect(describeVerification(config({ image_signer: unchecked }))).toContain('not checked')
  expect(describeVerification(config({}))).toBeUndefined()
})

test('a remote URL is shown without the values of its query', () => {
  const { image: _, ...remote } = config({
    remote_url: 'https://me:pw@example.com/mcp?api_key=abc123&x=1#top',
  })
  const shown = 'https://me:***@example.com/mcp?api_key=***&x=***#top'
  expect(toWorkload(remote, undefined).package).toBe(shown)
  const { remote_url } = remote
  expect(toWorkload({ ...remote, source: remote_url ?? '' }, undefined).package).toBe(shown)
})

test('a port that is published without a port of this host gets one that no workload has, and is told', async () => {
  const said: string[] = []
  const store = { configs: { list: async () => [] } } as unknown as Parameters<typeof choosePublished>[1]
  const say = (text: string) => said.push(text)
  const { publish = [] } = await choosePublished(config({ publish: ['8080', '9000:90'] }), store, { say })
  expect(publish).toEqual([expect.stringMatching(/^\d+:8080$/), '9000:90'])
  expect(said).toEqual([`Port 8080 of the server is published at 127.0.0.1:${publish[0]?.split(':')[0]}.`])
  const replaces = config({ publish })
  const again = await choosePublished(config({ publish: ['8080'] }), store, { say, replaces })
  expect(again.publish).toEqual([publish[0]])
})
