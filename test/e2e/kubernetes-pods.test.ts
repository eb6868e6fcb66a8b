import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { exportManifests } from '../../plugins/kubernetes/manifests/export-manifests.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { buildImage, docker, NODE_IMAGE, needsImage, startContainer } from '../support/keelson-image.ts'
import { KEELSON } from '../support/kubernetes-corpus.ts'
import { type DeploymentManifest, runPod } from '../support/pod.ts'

// The pods of a workload run on docker as their manifests say. Networks stand for the NetworkPolicies.
const SERVER = `example/server@sha256:${'0'.repeat(64)}`
const fixtures = new URL('../../fixtures/kubernetes', import.meta.url).pathname

async function call(url: string, name: string, args: object = {}): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  return response.text()
}

test('the pods of an HTTP server serve its tools, reach only what it may, and drain', {
  timeout: 300_000,
}, async context => {
  needsImage(context)
  const id = `keelson-pods-${randomUUID().slice(0, 8)}`
  const [front, back, outside] = [`${id}-front`, `${id}-back`, `${id}-outside`]
  const configFolder = await mkdtemp(join(tmpdir(), 'keelson-pods-'))
  onTestFinished(async () => {
    const parts = ['edge', 'server', 'egress', 'allowed', 'other'].map(part => `${id}-${part}`).join(' ')
    for (const command of [
      `rm --force ${parts}`,
      `network rm ${front} ${back} ${outside}`,
      `rmi ${id}:test`,
    ]) {
      spawnSync('docker', command.split(' '))
    }
    await rm(configFolder, { recursive: true, force: true })
  })
  await buildImage(`${id}:test`)
  for (const network of [front, back, outside]) docker('network', 'create', '--internal', network)
  const web = [NODE_IMAGE, 'node', '-e', 'require("http").createServer((q, r) => r.end("hello")).listen(80)']
  const allowed = startContainer(`${id}-allowed`, outside, web)
  const other = startContainer(`${id}-other`, outside, web)

  const config: RunConfig = {
    schema_version: 'v0.1.0',
    name: 'notes',
    image: SERVER,
    transport: 'streamable-http',
    port: 30001,
    target_port: 3000,
    cmd_args: ['node', '/fixtures/http-server.mjs'],
    env_vars: { PORT: '3000', WORD: 'a $(PATH) $$ b' },
    stateless: true,
    tools_filter: ['echo', 'variable', 'get', 'slow'],
    permission_profile: { network: { outbound: { allow_host: [allowed] } } },
  }
  const { text } = await exportManifests(
    config,
    { keelsonImage: KEELSON, writable: [] },
    async image => image,
  )
  const all = parseAllDocuments(text).map(document => document.toJS())
  const { data } = all.find(({ kind }) => kind === 'ConfigMap')
  await execa('chmod', ['755', configFolder])
  await writeFile(join(configFolder, 'runconfig.json'), data['runconfig.json'], { mode: 0o644 })
  const start = (part: string, networks: string[]) =>
    runPod(
      all.find(
        ({ kind, metadata }: DeploymentManifest & { metadata: { labels: Record<string, string> } }) =>
          kind === 'Deployment' && metadata.labels['app.kubernetes.io/component'] === part,
      ),
      {
        prefix: id,
        networks,
        configFolder,
        imageOf: reference => (reference === KEELSON ? `${id}:test` : NODE_IMAGE),
        mounts: part === 'server' ? [`${fixtures}:/fixtures:ro`] : [],
      },
    )
  start('egress', [back, outside])
  const edge = start('edge', [front])
  const url = `http://${edge.address}:8080`
  const health = () =>
    fetch(`${url}/health`).then(
      ({ status }) => status,
      () => 0,
    )

  // The readiness probe fails until the server responds, and the edge does not end meanwhile.
  await expect.poll(health, { timeout: 60_000 }).toBe(503)
  start('server', [front, back])
  await expect.poll(health, { timeout: 60_000 }).toBe(200)

  expect(await call(`${url}/mcp`, 'echo', { text: 'through the pods' })).toContain('through the pods')
  expect(await call(`${url}/mcp`, 'variable', { name: 'WORD' })).toContain('a $(PATH) $$ b')
  await expect
    .poll(() => call(`${url}/mcp`, 'get', { url: `http://${allowed}/` }), { timeout: 60_000 })
    .toContain('200 hello')
  expect(await call(`${url}/mcp`, 'get', { url: `http://${other}/` })).toMatch(/403|failed/)

  // preStop keeps the pod serving; a call that is under way at SIGTERM ends with its result.
  const waiting = execa('docker', ['exec', edge.name, ...(edge.preStop ?? [])])
  expect(await call(`${url}/mcp`, 'echo', { text: 'while it drains' })).toContain('while it drains')
  expect((await waiting).exitCode).toBe(0)
  const slow = call(`${url}/mcp`, 'slow')
  await new Promise(done => setTimeout(done, 500))
  docker('stop', '--time', '30', edge.name)
  expect(await slow).toContain('done')
  // It ended by SIGTERM; 137 would be the SIGKILL after the grace period.
  expect(docker('inspect', '--format', '{{.State.ExitCode}}', edge.name)).toBe('143')
})
