import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { attachBundle, pushImage } from '../plugins/image-verification/signed-image.ts'
import { serve } from '../plugins/mcp/servers.ts'
import { ociClient } from '../plugins/oci/oci-client.ts'
import { guardedRegistry } from '../plugins/registry-login/guarded-registry.ts'
import { startLogin } from '../plugins/registry-login/person.ts'
import { startUi } from '../plugins/serve/ui/open-page.ts'
import { startApi } from '../support/api-server.ts'
import { visit } from '../support/browser.ts'
import { startDockerRegistry } from '../support/docker-registry.ts'
import { type IdentityProvider, identityProvider } from '../support/identity-provider.ts'
import { keelsonUser, userWithSecrets } from '../support/keelson.ts'
import { GITHUB_ISSUER, testSigstore } from '../support/sigstore.ts'

const AUDIENCE = 'https://keelson.test/api'
const LOCAL = ['--port', '0', '--oidc-insecure-allow-http', '--jwks-allow-private-ip']

/** How to log in there, and who may; the provider's tokens are those of the client `service`. */
const loginAt = (provider: IdentityProvider, ...allow: string[]) => [
  ...[...LOCAL, '--oidc-issuer', provider.issuer, '--oidc-audience', AUDIENCE],
  ...allow.flatMap(rule => ['--oidc-allow', rule]),
]

test.each<[string, string[]]>([
  ['an issuer', ['--oidc-issuer', 'https://login.example.com']],
  ['keys', ['--oidc-jwks-url', 'https://login.example.com/keys']],
  ['introspection', ['--oidc-introspection-url', 'https://login.example.com/introspect']],
])('without an audience tokens for any service would do, so %s alone is refused', async (_, args) => {
  const user = await keelsonUser()

  const shown = await user.run(['serve', '--host', '0.0.0.0', ...LOCAL, ...args])

  expect([shown.code, shown.stdout]).toEqual([2, ''])
  expect(shown.stderr).toContain('--oidc-audience')
})

test.each<[string, string[]]>([
  ['Google', ['--oidc-issuer', 'https://accounts.google.com']],
  ['workflows of GitHub', ['--oidc-issuer', 'https://token.actions.githubusercontent.com']],
  ['all of Entra ID', ['--oidc-jwks-url', 'https://login.microsoftonline.com/common/discovery/v2.0/keys']],
])('where anybody can have an account (%s), the allowed callers must be named', async (_, args) => {
  const user = await keelsonUser()

  const shown = await user.run(['serve', ...LOCAL, ...args, '--oidc-audience', AUDIENCE])

  expect([shown.code, shown.stdout]).toEqual([2, ''])
  expect(shown.stderr).toContain('--oidc-allow')
})

test.each(['jwt', 'opaque'] as const)(
  'another user with a valid %s token of the same provider is refused, with the reason',
  async format => {
    const provider = await identityProvider({ audience: AUDIENCE, format })
    const endpoint = `${provider.issuer}/token/introspection`
    const user = await keelsonUser()
    await writeFile(join(user.home, 'secret'), provider.service.secret)
    const asked = [
      ...['--oidc-introspection-url', endpoint, '--oidc-client-id', provider.service.id],
      ...['--oidc-client-secret-file', 'secret'],
    ]
    const claim = format === 'jwt' ? 'sub' : 'client_id'
    const ask = async (token: string, ...rules: string[]) => {
      const api = await startApi({ user, args: [...loginAt(provider, ...rules), ...asked] })
      const headers = { authorization: `Bearer ${token}` }
      const response = await fetch(`${api.url}/api/v1beta/workloads`, { headers })
      const { error } = (await response.json()) as { error?: string }
      await api.stop()
      return [response.status, error, response.headers.get('www-authenticate')]
    }
    const [token, reader] = [await provider.token(), await provider.token({ scope: 'read' })]
    const refused = [403, 'insufficient_scope', expect.stringContaining('error="insufficient_scope"')]

    expect(await ask(token, `${claim}=ada`)).toEqual(refused)
    expect(await ask(token, `${claim}=service`, 'groups=admins')).toEqual(refused)
    expect(await ask(reader, 'scope=write')).toEqual(refused)
    expect(await ask(token, `${claim}=ada`, `${claim}=service`, 'scope=write')).toEqual([
      200,
      undefined,
      null,
    ])
  },
  120_000,
)

test('the page shows nothing to another user with a valid token', { timeout: 120_000 }, async context => {
  const provider = await identityProvider({ audience: AUDIENCE })
  const api = await startUi({ args: loginAt(provider, 'sub=ada') })
  const { page } = await visit(context, `${api.url}/`)

  const dialog = page.getByRole('dialog', { name: 'Who are you?' })
  await dialog.getByLabel('Access token').fill(await provider.token())
  await page.keyboard.press('Enter')

  await page.getByText('not allowed here').first().waitFor()
  expect(await page.getByText('No workloads yet.').count()).toBe(0)
})

test('a login succeeds while pages and programs of others send responses to it', {
  timeout: 180_000,
}, async context => {
  const provider = await identityProvider()
  const registry = await guardedRegistry(provider)
  const user = await userWithSecrets()
  const waiting = await startLogin(user, [
    ...['-p', '--registry', registry.url, '--issuer', provider.issuer, '--client-id', provider.clientId],
  ])
  const words = new URL(waiting.url).searchParams
  const callback = words.get('redirect_uri') ?? ''
  const state = words.get('state') ?? ''
  const send = async (query: Record<string, string>, init: RequestInit = {}, path = '') => {
    const url = new URL(callback)
    url.pathname += path
    url.search = new URLSearchParams(query).toString()
    return (await fetch(url, init)).status
  }

  expect(await send({ code: 'x', state: 'guessed' })).toBe(400)
  expect(await send({ code: 'x' })).toBe(400)
  expect(await send({ error: 'access_denied', state: 'guessed' })).toBe(400)
  expect(await send({ state })).toBe(400)
  expect(await send({ code: 'x', state: `${state}x` })).toBe(400)
  expect(await send({ code: 'x', state }, {}, '/more')).toBe(404)
  expect(await send({ code: 'x', state }, { method: 'POST', body: 'code=x' })).toBe(405)
  const elsewhere = await serve((_, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>'),
  )
  const { page } = await visit(context, elsewhere)
  await page.evaluate(`fetch(${JSON.stringify(`${callback}?code=x&state=guessed`)}, { mode: 'no-cors' })`)

  const came = await provider.visit(waiting.url)

  expect(came.text).toContain('You are logged in')
  expect(await waiting.ended).toMatchObject({ code: 0 })
  const listed = await user.run(['registry', 'list', '--refresh', '--format', 'json'])
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'com.example/guarded' }])
})

test('an image whose signer has the right name at another login is not run', {
  timeout: 120_000,
}, async () => {
  const [registry, sigstore] = await Promise.all([startDockerRegistry(), testSigstore()])
  onTestFinished(registry.stop)
  const oci = ociClient()
  const image = await pushImage(oci, `${registry.host}/acme/tool:1.0.0`, 'evil')
  const identity = 'https://github.com/acme/tool/.github/workflows/release.yml@refs/tags/v1.0.0'
  const signer = {
    identity,
    issuer: 'https://login.mallory.example',
    repository: 'https://github.com/acme/tool',
  }
  await attachBundle(oci, image, await sigstore.attest(image.digest, signer))
  const user = await keelsonUser()
  user.env.KEELSON_INSECURE_REGISTRIES = registry.host
  user.env.KEELSON_SIGSTORE_TRUSTED_ROOT = join(user.home, 'root.json')
  await writeFile(join(user.home, 'root.json'), JSON.stringify(sigstore.trustRoot))
  const server = { image: image.reference, transport: 'stdio', description: 'a tool', tools: ['x'] }

  for (const [provenance, reason] of [
    [{ signer_identity: identity }, 'its entry does not name the login of the signer (cert_issuer)'],
    [
      { signer_identity: identity, cert_issuer: '' },
      'its entry does not name the login of the signer (cert_issuer)',
    ],
    [{ signer_identity: identity, cert_issuer: '.*' }, 'for the login at "https://login.mallory.example"'],
    [{ signer_identity: identity, cert_issuer: GITHUB_ISSUER }, 'for the login at'],
    [{ signer_identity: '.*', cert_issuer: signer.issuer }, 'it was signed by'],
    [{ repository_uri: signer.repository }, 'for the login at "https://login.mallory.example"'],
  ] as const) {
    const entry = { ...server, status: 'Active', tier: 'Community', provenance }
    const document = { version: '1.0.0', last_updated: '2026-01-01T00:00:00Z', servers: { tool: entry } }
    await writeFile(join(user.home, 'registry.json'), JSON.stringify(document))
    expect((await user.run(['config', 'set-registry', join(user.home, 'registry.json')])).code).toBe(0)

    const shown = await user.run(['run', 'tool', '--image-verification', 'enabled'])

    expect([provenance, shown.code, shown.stderr]).toEqual([provenance, 1, expect.stringContaining(reason)])
    expect(shown.stderr).toContain('is not verified')
  }
})
