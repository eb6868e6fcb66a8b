import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { createEgressProxy } from '../../../plugins/egress/proxy/egress-proxy.ts'
import { openRegistryProxy } from '../../../plugins/egress/registry-proxy.ts'
import { findBubblewrap } from '../../../plugins/runtime-process/find-bubblewrap.ts'
import { createInstallSandbox } from '../../../plugins/runtime-process/packages/install-sandbox.ts'
import { createPackageStore } from '../../../plugins/runtime-process/packages/package-store.ts'
import { packageTools } from '../../../plugins/runtime-process/packages/package-tools.ts'
import type { PackageRequest } from '../../../src/contracts/runtime.ts'
import { createLog } from '../../../src/log.ts'
import { needs } from '../../support/left-out.ts'
import { readUntil } from '../../support/runtime-contract.ts'
import { isLong } from '../../support/series.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { hostRuntime, NO_BUBBLEWRAP } from './host-runtime.ts'
import { shellInstance } from './shell-instance.ts'

const GO = join(import.meta.dirname, '../../../fixtures/answers-initialize')
const has = (tool: string, ...args: string[]) => spawnSync(tool, args).status === 0
const hasBubblewrap = has('bwrap', '--ro-bind', '/', '/', '--unshare-pid', 'true')
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})

const requests: [needs: string, request: PackageRequest][] = [
  ['npm', { scheme: 'npx', package: '@modelcontextprotocol/server-everything', local: false, buildWith: [] }],
  ['python3', { scheme: 'uvx', package: 'mcp-server-time', local: false, buildWith: [] }],
  ['go', { scheme: 'go', package: GO, local: true, buildWith: [] }],
]

/** Caches of npm, pip and Go: what Go compiles of its library costs it half a minute of a processor. */
const tools = await mkdtemp(join(tmpdir(), 'keelson-test-'))
afterAll(() => rm(tools, { recursive: true, force: true }))

describe.each(hasBubblewrap ? [true, false] : [false])('real packages, sandboxed: %s', sandbox => {
  // Without a sandbox all tools are run in the same way, so one stands for all.
  test.for(requests.filter(([tool]) => sandbox || isLong || tool === 'npm'))(
    'from %s: installed once, then answering initialize',
    { timeout: 300_000 },
    async ([tool, request], context) => {
      const there = has(tool, tool === 'go' ? 'version' : '--version')
      needs(context, there ? undefined : `there is no ${tool}`)

      const home = await temporaryFolder()
      const packages = createPackageStore(
        join(home, 'packages'),
        packageTools(
          createInstallSandbox({
            caches: tools,
            sockets: join(home, 'net'),
            bubblewrap: sandbox ? () => findBubblewrap(process.env.PATH ?? '') : async () => NO_BUBBLEWRAP,
            egress: async () => ({
              openRegistryProxy: options => openRegistryProxy({ createProxy: createEgressProxy }, options),
            }),
            log: createLog({ write: () => undefined, human: false, debug: false }),
          }),
        ),
      )
      const runtime = hostRuntime(home, { sandbox, packages })
      onTestFinished(() => runtime.remove('w'))
      const { image } = await packages.install(request)
      const said: string[] = []
      expect(await packages.install(request, { report: line => said.push(line) })).toMatchObject({ image })
      expect(said.filter(line => line.startsWith('installing'))).toEqual([])

      await runtime.create(shellInstance('', { image, args: [], stdio: true }))
      const { stdin, stdout, exit } = await runtime.attach('w')
      stdin.write(`${INITIALIZE}\n`)
      expect(await readUntil(stdout, '"serverInfo"')).toContain('"id":1')
      await runtime.stop('w')
      expect((await exit).code).toBeTypeOf('number')
    },
  )
})
