import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createRecipes } from '../../../plugins/recipes/service.ts'
import { createContainerRuntime } from '../../../plugins/runtime-docker/container-runtime.ts'
import { dockerDialect } from '../../../plugins/runtime-docker/docker-dialect.ts'
import { podmanDialect } from '../../../plugins/runtime-podman/podman-dialect.ts'
import type { PackageRequest } from '../../../src/contracts/runtime.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { needs } from '../../support/left-out.ts'
import { readUntil } from '../../support/runtime-contract.ts'
import { isLong } from '../../support/series.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const GO = join(import.meta.dirname, '../../../fixtures/answers-initialize')
const CA = process.env.SSL_CERT_FILE ?? '/etc/ssl/certs/ca-certificates.crt'
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})

/** With `npm run test:long` each case runs on all engines, else on those that it names. */
type Case = [title: string, base: string, request: PackageRequest, args: string[], engines: readonly string[]]
const cases: Case[] = [
  [
    'local Go code',
    'keelson-test/golang:1',
    { scheme: 'go', package: GO, local: true, buildWith: [] },
    ['baked', "it's $HOME"],
    ['docker', 'podman'],
  ],
  [
    'an npm package',
    'keelson-test/node:24',
    {
      scheme: 'npx',
      package: '@modelcontextprotocol/server-everything@2026.8.31',
      local: false,
      buildWith: [],
    },
    [],
    ['docker'],
  ],
  [
    'a PyPI package',
    'keelson-test/python:3',
    { scheme: 'uvx', package: 'mcp-server-time', local: false, buildWith: [] },
    [],
    ['podman'],
  ],
]

describe.each([dockerDialect, podmanDialect])('on $name', { timeout: 300_000 }, dialect => {
  test.for(cases.filter(([, , , , engines]) => isLong || engines.includes(dialect.name)))(
    '%s becomes an image that speaks MCP without a network',
    async ([, base, request, args], context) => {
      const { name: engine } = dialect
      needs(context, engineProblem(engine === 'podman' ? 'podman' : 'docker', base))

      const home = await temporaryFolder()
      const runtime = createContainerRuntime({
        dialect,
        owner: 'keelson-recipes-test',
        env: process.env,
        folder: join(home, 'engine'),
      })
      const recipes = createRecipes({ folder: home })
      const options = {
        runtime,
        runtimeImage: base,
        caCert: CA,
        args,
        tag: `keelson.local/test-${randomBytes(4).toString('hex')}:1`,
      }
      const { image, version } = await recipes.build(request, options)
      onTestFinished(() => runtime.images?.remove(image))
      expect(version).toMatch(/^[0-9a-f.]+$/)

      const said: string[] = []
      expect((await recipes.build(request, options, { report: line => said.push(line) })).image).toBe(image)
      expect(said.filter(line => /^building|step/i.test(line))).toEqual([])

      const run = ['run', '--rm', '-i', '--network=none', '--cap-drop=ALL', image]
      const server = spawn(engine, run, { stdio: ['pipe', 'pipe', 'inherit'] })
      onTestFinished(async () => {
        server.stdin.end()
        if (server.exitCode === null) await once(server, 'exit')
      })
      server.stdin.write(`${INITIALIZE}\n`)
      const answer = await readUntil(server.stdout, '"serverInfo"')
      if (args.length > 0) expect(answer).toContain(`"name":"${args.join(' ')}"`)
    },
  )
})
