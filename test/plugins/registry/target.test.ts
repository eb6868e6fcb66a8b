import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { registryTarget } from '../../../plugins/registry/registry-target.ts'
import { secretNameOf } from '../../../plugins/registry/secret-name.ts'
import { createConsents } from '../../../plugins/secrets/consents.ts'
import { createApp } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { RunOptions } from '../../../src/contracts/run-options.ts'
import type { ResolveContext, Target } from '../../../src/contracts/target.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import type { PluginEntry } from '../../../src/plugin.ts'
import { registryServer } from '../../support/registry-server.ts'

const ENTRIES = {
  files: {
    image: 'example/files:1',
    transport: 'stdio',
    args: ['/data'],
    permissions: { network: { outbound: {} } },
  },
  web: { image: 'example/web:2', transport: 'sse', target_port: 9000, proxy_port: 4567 },
  quiet: { image: 'example/quiet:1', transport: 'stdio', proxy_port: 4567 },
  npm: { image: 'npx://@example/server@1.2.3', transport: 'stdio' },
  nuget: { image: 'nuget://Example.Server@1.0.0', transport: 'stdio' },
  needy: {
    image: 'example/needy:1',
    transport: 'stdio',
    env_vars: [
      { name: 'PLACE', description: 'Where', required: true },
      { name: 'TOKEN', description: 'Who', required: true, secret: true },
      { name: 'MODE', default: 'fast', required: true },
      { name: 'MAYBE' },
    ],
  },
  place: { image: 'example/place:1', transport: 'stdio', env_vars: [{ name: 'PLACE', required: true }] },
}
const REMOTES = {
  far: { url: 'https://far.example/mcp', transport: 'sse' },
  tenant: { url: 'https://{tenant}.example/mcp', transport: 'streamable-http' },
  keyed: {
    url: 'https://keyed.example/mcp',
    transport: 'sse',
    headers: [{ name: 'X-Key', required: true, secret: true }],
  },
}

/** A user whose registry is a file; what images, packages and URLs come to is only recorded. */
async function userWith(options: { secrets?: Map<string, string>; writable?: boolean } = {}) {
  const home = await mkdtemp(join(tmpdir(), 'keelson-target-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const path = join(home, 'r.json')
  const described = (list: object) =>
    Object.fromEntries(Object.entries(list).map(([name, entry]) => [name, { description: name, ...entry }]))
  await writeFile(
    path,
    JSON.stringify({ version: '1.0.0', servers: described(ENTRIES), remote_servers: described(REMOTES) }),
  )

  const resolved: { kind: string; reference: string; transport: unknown }[] = []
  const recording = (kind: Target['kind'], accepts: (text: string) => boolean): Target => ({
    kind,
    accepts,
    defaultName: () => '',
    async resolve(reference, { options }) {
      resolved.push({ kind, reference, transport: options.transport })
      const transport = options.transport ?? 'streamable-http'
      return kind === 'remote' ? { remote_url: reference, transport } : { image: reference, transport }
    },
  })
  const targets: PluginEntry = {
    name: 'targets',
    provides: ['targets'],
    load: async () => ({
      name: 'targets',
      provides: {
        targets: [
          () => recording('scheme', text => text.startsWith('npx://')),
          () => recording('remote', text => text.startsWith('https://')),
          () => recording('image', () => true),
        ],
      },
    }),
  }
  const stored = options.secrets
  const secrets: PluginEntry = {
    name: 'secrets',
    services: ['secrets'],
    load: async () => ({
      name: 'secrets',
      services: {
        secrets: () =>
          ({
            find: async (name: string) => stored?.get(name),
            assertCanStore: async () => undefined,
            set: async (name: string, value: string) => void stored?.set(name, value),
            consents: createConsents({ paths: app.paths, log: app.log }),
          }) as never,
      },
    }),
  }
  const own = builtins.filter(entry => entry.name === 'settings' || entry.name === 'registry')
  const warnings: string[] = []
  const app = createApp({
    paths: findPaths({ HOME: home }),
    log: createLog({ write: line => warnings.push(line), human: true, debug: false }),
    env: {},
    entries: [...own.map(({ provides: _, ...entry }) => entry), targets, ...(stored ? [secrets] : [])],
  })
  const settings = await app.service('settings')
  await settings.change(() => ({ local_registry_path: path }))
  const target = registryTarget(app)
  const resolve = (
    name: string,
    {
      asked = {},
      options = {},
      ...rest
    }: { asked?: Partial<RunConfig>; options?: RunOptions } & Partial<
      Omit<ResolveContext, 'asked' | 'options'>
    > = {},
  ) =>
    target.resolve(name, {
      options,
      asked: { schema_version: '', name, transport: 'stdio', port: 0, ...asked },
      runtime: () => Promise.reject(new Error('no runtime is needed')),
      ...rest,
    })
  return { target, resolve, resolved, settings, home, warnings }
}

test('an entry gives image, transport, arguments and permissions', async () => {
  const { resolve, resolved, home } = await userWith()

  expect(await resolve('files')).toEqual({
    registry_source: join(home, 'r.json'),
    registry_server_name: 'io.github.stacklok/files',
    registry_env_vars: [],
    image: 'example/files:1',
    source: 'example/files:1',
    transport: 'stdio',
    cmd_args: ['/data'],
    permission_profile: { network: { outbound: {} } },
    env_vars: {},
  })
  expect(resolved).toEqual([{ kind: 'image', reference: 'example/files:1', transport: 'stdio' }])
})

test('ports go with HTTP transports only', async () => {
  const { resolve } = await userWith()

  expect(await resolve('web')).toMatchObject({ transport: 'sse', target_port: 9000, port: 4567 })
  expect(await resolve('quiet')).not.toHaveProperty('port')
})

test('--transport wins over the entry', async () => {
  const { resolve } = await userWith()

  expect(await resolve('web', { options: { transport: 'stdio' } })).toMatchObject({ transport: 'stdio' })
  expect(await resolve('web', { options: { transport: 'stdio' } })).not.toHaveProperty('target_port')
})

test('a package is built as if its scheme had been typed', async () => {
  const { resolve, resolved } = await userWith()

  await resolve('npm')

  expect(resolved).toEqual([{ kind: 'scheme', reference: 'npx://@example/server@1.2.3', transport: 'stdio' }])
})

test('a remote entry becomes a remote workload', async () => {
  const { resolve } = await userWith()

  expect(await resolve('far')).toMatchObject({
    remote_url: 'https://far.example/mcp',
    transport: 'sse',
    registry_server_name: 'io.github.stacklok/far',
  })
})

test('what a URL leaves open is filled with -e, and with nothing else of the user', async () => {
  const { resolve } = await userWith()

  expect(await resolve('tenant', { options: { env: ['tenant=a/b'] } })).toMatchObject({
    remote_url: 'https://a%2Fb.example/mcp',
  })
  const fromFile = resolve('tenant', { asked: { env_vars: { tenant: 'a/b' } } })
  await expect(fromFile).rejects.toMatchObject({ code: 'variables_missing' })
})

test('a secret header that an entry wants is asked for, stored, and only named', async () => {
  const secrets = new Map<string, string>()
  const { resolve } = await userWith({ secrets })

  const config = await resolve('keyed', { ask: async () => 'the value' })

  const [[name, value] = []] = secrets
  expect(value).toBe('the value')
  expect(config.header_forward).toEqual({ add_headers_from_secret: { 'X-Key': name } })
})

test('a header that an entry wants and nobody gives fails, and names the flag that gives it', async () => {
  const { resolve } = await userWith({ secrets: new Map() })

  await expect(resolve('keyed')).rejects.toMatchObject({
    code: 'variables_missing',
    hint: expect.stringContaining('--remote-forward-headers-secret X-Key='),
  })
})

test('a header that the user gives is not asked for', async () => {
  const { resolve } = await userWith()
  const asked = { header_forward: { add_plaintext_headers: { 'x-key': '1' } } }

  expect(await resolve('keyed', { asked })).not.toHaveProperty('header_forward')
})

test('a remote server that wants nothing of clients runs without a word', async () => {
  const { resolve, warnings } = await userWith()

  await resolve('far')

  expect(warnings).toEqual([])
})

test('a kind of package that cannot be run says so', async () => {
  const { resolve } = await userWith()

  await expect(resolve('nuget')).rejects.toMatchObject({
    code: 'server_not_runnable',
    message: expect.stringContaining('nuget'),
  })
})

test('without a terminal all that is missing is named at once', async () => {
  const { resolve, resolved } = await userWith()

  await expect(resolve('needy')).rejects.toMatchObject({
    code: 'variables_missing',
    exit: 2,
    status: 422,
    message: expect.stringContaining('"io.github.stacklok/needy" needs PLACE, TOKEN (secret).'),
  })
  expect(resolved).toEqual([])
})

test('what flags, env files and secrets give is not asked for; defaults fill the rest', async () => {
  const { resolve, home } = await userWith()
  const folder = join(home, 'env')
  await mkdir(folder)
  await writeFile(join(folder, 'a'), 'TOKEN=s3cret\n')

  const fromFolder = await resolve('needy', { asked: { env_vars: { PLACE: 'here' }, env_file_dir: folder } })
  expect(fromFolder.env_vars).toEqual({ MODE: 'fast' })
  expect(JSON.stringify(fromFolder)).not.toContain('s3cret')

  const fromSecret = await resolve('needy', {
    asked: { env_vars: { PLACE: 'here', MODE: 'slow' }, secrets: ['mine,target=TOKEN'] },
  })
  expect(fromSecret.env_vars).toEqual({})
})

test('a plain variable is asked for on a terminal', async () => {
  const { resolve } = await userWith()
  const asked: string[] = []

  const config = await resolve('place', {
    ask: async question => {
      asked.push(question)
      return 'there'
    },
  })

  expect(asked).toEqual([expect.stringMatching(/^"io.github.stacklok\/place" .* asks for PLACE\nPLACE$/)])
  expect(config.env_vars).toEqual({ PLACE: 'there' })
})

test('a secret is asked for without echo, stored, and only referred to', async () => {
  const secrets = new Map<string, string>()
  const { resolve } = await userWith({ secrets })
  const asked: [string, boolean | undefined][] = []

  const config = await resolve('needy', {
    ask: async (question, options) => {
      asked.push([question, options?.hidden])
      return options?.hidden ? 's3cret' : 'here'
    },
  })

  expect(asked).toEqual([
    [expect.stringContaining('asks for PLACE: "Where"\nPLACE'), false],
    [expect.stringContaining('asks for the secret TOKEN: "Who"\nTOKEN'), true],
  ])
  const [[name, value] = []] = secrets
  expect(name).toMatch(/^io_github_stacklok_needy_TOKEN_[0-9a-f]{32}$/)
  expect(value).toBe('s3cret')
  expect(config.secrets).toEqual([`${name},target=TOKEN`])
  expect(JSON.stringify(config)).not.toContain('s3cret')
})

test('a stored secret of that name is given after a yes, and from then on', async () => {
  const { resolve } = await userWith({ secrets: new Map([['TOKEN', 's3cret']]) })
  const asked = { env_vars: { PLACE: 'here' } }
  const questions: string[] = []
  const yes = async (question: string) => {
    questions.push(question)
    return 'y'
  }

  await expect(resolve('needy', { asked })).rejects.toMatchObject({
    code: 'variables_missing',
    hint: expect.stringContaining('--secret TOKEN,target=TOKEN'),
  })
  expect((await resolve('needy', { asked, ask: yes })).secrets).toEqual(['TOKEN,target=TOKEN'])
  expect(questions).toEqual([expect.stringContaining('Give it your stored secret "TOKEN"')])
  expect((await resolve('needy', { asked })).secrets).toEqual(['TOKEN,target=TOKEN'])
})

test('no two of registry, server and variable have one secret, and every provider takes its name', () => {
  const names = [
    ['https://a.example', 'com.a/x', 'TOKEN'],
    ['https://b.example', 'com.a/x', 'TOKEN'],
    ['https://a.example', 'com.b/x', 'TOKEN'],
    ['https://a.example', 'com.a/x', 'TOKEN_'],
    ['https://a.example', 'com.a/x_T', 'OKEN'],
    ['https://a.example', `com.a/${'x'.repeat(250)}`, 'TOKEN'],
    ['https://a.example', `com.a/${'x'.repeat(251)}`, 'TOKEN'],
  ].map(([registry = '', server = '', variable = '']) => secretNameOf({ registry, server, variable }))

  expect(new Set(names).size).toBe(names.length)
  for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/)
})

test('without a place for secrets nothing is asked that would be lost', async () => {
  const { resolve } = await userWith()
  const asked: string[] = []

  const pending = resolve('needy', {
    ask: async question => {
      asked.push(question)
      return 'x'
    },
  })

  await expect(pending).rejects.toMatchObject({
    code: 'variables_missing',
    hint: expect.stringContaining('secret set'),
  })
  expect(asked).toEqual([])
})

test.each([
  'busybox',
  'example/server',
  'ghcr.io/a/b:1',
  'example:5000/x',
  'npx://x',
  'https://far.example',
  'a/b/c',
  'files:1',
])('%s is left to the others', async argument => {
  const { target } = await userWith()

  expect(await target.accepts(argument)).toBe(false)
})

test.each(['files', 'io.github.stacklok/files', 'Filez'])('%s is claimed', async argument => {
  const { target } = await userWith()

  expect(await target.accepts(argument)).toBe(true)
})

test('a word that can be neither name nor image suggests near names', async () => {
  const { resolve } = await userWith()

  await expect(resolve('Filez')).rejects.toMatchObject({
    code: 'server_unknown',
    hint: 'Did you mean files?',
  })
})

test('what is plainly an image asks no registry on the network', async () => {
  const { target, settings } = await userWith()
  const api = await registryServer((_, response) => response.writeHead(404).end())
  await settings.change(() => ({ registry_api_url: api.url, allow_private_registry_ip: true }))

  for (const image of ['ghcr.io/a/b:1', 'example/server', 'a/b/c', 'busybox@sha256:x'])
    await target.accepts(image)

  expect(api.asked).toEqual([])
})

test.each([
  ['files', 'files'],
  ['io.github.stacklok/files', 'io-github-stacklok-files'],
])('%s is called %s', async (argument, name) => {
  const { target } = await userWith()

  expect(target.defaultName(argument)).toBe(name)
})
