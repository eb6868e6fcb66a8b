import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { assertFits } from '../../../plugins/workloads/assert-fits.ts'
import { configFromOptions, type RunRequest, withDefaults } from '../../../plugins/workloads/build-config.ts'
import { FLAG_EFFECTS, type FlagContext } from '../../../plugins/workloads/flag-effects.ts'
import { runFlags } from '../../../plugins/workloads/flags.ts'
import { createApp } from '../../../src/app.ts'
import type { FlagTable } from '../../../src/cli/flags.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { flagSamples } from '../../support/hostile/flag-samples.ts'

let folder = ''
const app = () =>
  createApp({
    paths: findPaths({ HOME: folder }),
    log: createLog({ write: () => undefined, human: false, debug: false }),
    env: { HOME: folder },
    entries: builtins,
  })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keelson-flags-'))
  await mkdir(join(folder, 'vars'))
  await writeFile(join(folder, 'vars/one'), 'B=2\n')
  await writeFile(join(folder, 'file.env'), 'C=3\n')
  await writeFile(join(folder, 'auth-server.yaml'), 'upstreams: []\n')
  await writeFile(join(folder, 'audit.json'), '{"component":"mine"}')
  const webhook = { name: 'a', url: 'https://hook.example', failure_policy: 'fail' }
  await writeFile(join(folder, 'webhooks.json'), JSON.stringify({ validating: [webhook] }))
  await writeFile(join(folder, 'tools.json'), '{"toolsOverride":{"a":{"name":"b"}}}')
  await writeFile(join(folder, 'ca.pem'), rootCertificates[0] ?? '')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Flags whose effect is not in the run config that flags make, and where it is. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  name: 'given beside the flags',
  foreground: 'where it is hosted',
  'from-config': 'in the place of all flags',
  'remote-auth': 'a login before the workload is made',
  runtime: 'chosen when the target is resolved',
  'ca-cert': 'how the package is built, or said to be without effect',
  'runtime-image': 'how the package is built',
  'allow-build-network': 'how the package is built',
  'accept-permissions': 'what the target resolves to',
  'runtime-add-package': 'how the package is built',
  'build-with': 'how the package is built; refused for all but uvx by the builder',
  'image-verification': 'what the target resolves to, or a notice that there is nothing to verify',
  'allow-build-host': 'how the package is built',
}

const SITUATIONS: Readonly<Record<string, FlagContext>> = {
  'an image that listens, in a container': {
    ...{ argument: 'example/a', kind: 'image', fromRegistry: false, contained: true, isolated: true },
    ...{ transport: 'streamable-http', proxyMode: 'streamable-http' },
  },
  'an image with stdio': {
    ...{ argument: 'example/a', kind: 'image', fromRegistry: false, contained: true, isolated: true },
    ...{ transport: 'stdio', proxyMode: 'sse' },
  },
  'a package in a container': {
    ...{ argument: 'npx://a', kind: 'package', fromRegistry: false, contained: true, isolated: true },
    ...{ transport: 'stdio', proxyMode: 'streamable-http' },
  },
  'a package on the host': {
    ...{ argument: 'npx://a', kind: 'package', fromRegistry: false, contained: false, isolated: true },
    ...{ transport: 'stdio', proxyMode: 'streamable-http' },
  },
  'a URL': {
    ...{ argument: 'https://a.example/mcp', kind: 'remote', fromRegistry: false },
    ...{ transport: 'streamable-http', proxyMode: 'streamable-http' },
  },
  'a remote server of the registry': {
    ...{ argument: 'far', kind: 'remote', fromRegistry: true, transport: 'sse', proxyMode: 'sse' },
  },
  'an image of the registry, not isolated': {
    ...{ argument: 'near', kind: 'image', fromRegistry: true, contained: true, isolated: false },
    ...{ transport: 'sse', proxyMode: 'sse' },
  },
}

const flagsOfRun = async (): Promise<FlagTable> => {
  const groups = (await app().contributions('flags')).filter(group => group.of.includes('run'))
  return Object.assign({}, runFlags, ...groups.map(group => group.flags))
}

test('every flag of run has its place in the table, and a value to try it with', async () => {
  const flags = Object.keys(await flagsOfRun()).sort()
  expect(Object.keys(FLAG_EFFECTS).sort()).toEqual(flags)
  expect(Object.keys(flagSamples(folder)).sort()).toEqual(flags)
})

/** The run config that flags make, or why they are refused. */
async function made(situation: FlagContext, given: Readonly<Record<string, unknown>>): Promise<unknown> {
  const request: RunRequest = {
    argument: situation.argument,
    serverArgs: [],
    options: withDefaults(await flagsOfRun(), given),
    given: new Set(Object.keys(given)),
    cwd: folder,
    debug: false,
  }
  assertFits(situation, request)
  return configFromOptions(app(), request, 'a')
}

describe.each(Object.entries(SITUATIONS))('for %s', (_, situation) => {
  test.each(Object.keys(FLAG_EFFECTS))('--%s has an effect, or is refused by name', async flag => {
    const { value } = flagSamples(folder)[flag] ?? {}
    const given = { [flag]: value }
    const outcome = await made(situation, given).catch((error: Error) => error.message)
    if (typeof outcome === 'string') expect(outcome).toContain(`--${flag} does not go with`)
    else if (ELSEWHERE[flag] === undefined) expect(outcome).not.toEqual(await made(situation, {}))
    else expect(outcome).toEqual(await made(situation, {}))
  })
})

test.each([
  ['a URL', ['env', 'env-file', 'env-file-dir', 'secret', 'volume', 'publish', 'network', 'memory', 'cpus']],
  ['a URL', ['permission-profile', 'isolate-network', 'allow-docker-gateway', 'runtime', 'ca-cert']],
  [
    'a URL',
    ['ignore-globally', 'print-resolved-overlays', 'image-verification', 'proxy-mode', 'target-port'],
  ],
  ['a remote server of the registry', ['volume', 'env-file-dir', 'build-with', 'isolate-network']],
  ['an image of the registry, not isolated', ['runtime-image', 'ca-cert', 'allow-docker-gateway']],
  ['an image with stdio', ['target-host', 'target-port']],
  ['a package in a container', ['endpoint-prefix']],
  ['a package on the host', ['runtime-image', 'runtime-add-package', 'allow-docker-gateway']],
] as const)('%s has no use for %j', async (name, flags) => {
  const situation = SITUATIONS[name]
  for (const flag of flags) {
    const given = { [flag]: flagSamples(folder)[flag]?.value }
    await expect(made(situation as FlagContext, given)).rejects.toMatchObject({ code: 'usage' })
  }
})
