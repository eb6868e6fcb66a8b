import { createPublicKey, verify } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createImageVerification } from '../../../plugins/image-verification/service.ts'
import { createTrustRoots } from '../../../plugins/image-verification/trust-roots.ts'
import { createBuilds } from '../../../plugins/skill-artifacts/service.ts'
import { findIdentityToken } from '../../../plugins/skill-artifacts/sign/identity-token.ts'
import { type DockerRegistry, startDockerRegistry } from '../../support/docker-registry.ts'
import { type TestSigstore, testSigstore } from '../../support/sigstore.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { ociClient } from '../oci/oci-client.ts'

const ISSUER = 'https://token.actions.githubusercontent.com'
const SUBJECT = 'https://github.com/acme/skills/.github/workflows/release.yml@refs/tags/v1'
const oci = ociClient()
const source = new URL('../../../fixtures/skills/csv-report', import.meta.url).pathname

const jwt = (claims: object) =>
  ['{"alg":"RS256"}', JSON.stringify(claims), 'signature-material']
    .map(part => Buffer.from(part).toString('base64url'))
    .join('.')
const token = jwt({
  iss: ISSUER,
  sub: SUBJECT,
  repository: 'acme/skills',
  ref: 'refs/tags/v1',
  aud: 'sigstore',
})

let registry: DockerRegistry
let sigstore: TestSigstore
let repositories = 0
beforeAll(async () => {
  ;[registry, sigstore] = await Promise.all([startDockerRegistry(), testSigstore()])
})
afterAll(() => registry.stop())

/** A server that ends with the test. */
async function listen(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server: Server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The authority and the log, and what they were asked. */
async function startSigstore() {
  const asked: { path: string; body: string }[] = []
  const url = await listen(async (request, response) => {
    const body = await text(request)
    asked.push({ path: request.url ?? '', body })
    const handler = sigstore.handlers.find(({ path }) => path === request.url)
    if (!handler) return response.writeHead(404).end()
    const { statusCode, response: answer } = await handler.fn(body)
    response.writeHead(statusCode, { 'content-type': 'application/json' }).end(answer)
  })
  return { url, asked }
}

async function built(env: Record<string, string>) {
  const reference = `${registry.host}/keyless${++repositories}/csv-report:1`
  const builds = createBuilds({ folder: await temporaryFolder(), oci: async () => oci, env })
  await builds.build(source, reference)
  return { builds, reference }
}
const at = (url: string) => ({ KEELSON_SIGSTORE_FULCIO_URL: url, KEELSON_SIGSTORE_REKOR_URL: url })

test('what is signed with an identity is verified as signed by it', async () => {
  const { url, asked } = await startSigstore()
  const { builds, reference } = await built(at(url))
  await builds.push(reference, { identityToken: token })

  const root = join(await temporaryFolder(), 'root.json')
  await writeFile(root, JSON.stringify(sigstore.trustRoot))
  const trustRoots = createTrustRoots({
    cacheFolder: '/nonexistent',
    file: root,
    debug: () => undefined,
    warn: () => undefined,
  })
  const verdict = await createImageVerification({ oci, trustRoots }).check(
    reference,
    {
      sigstore_url: 'tuf-repo-cdn.sigstore.dev',
      repository_uri: 'https://github.com/acme/skills',
      signer_identity: '/.github/workflows/release.yml',
      cert_issuer: ISSUER,
    },
    'enabled',
  )

  expect(verdict).toMatchObject({
    verified: true,
    signer: { identity: SUBJECT, issuer: ISSUER, repositoryRef: 'refs/tags/v1' },
  })
  expect(asked.map(({ path }) => path)).toEqual(['/api/v2/signingCert', '/api/v1/log/entries'])
})

test('the authority gets the proof that we have the key; the log never sees the token', async () => {
  const { url, asked } = await startSigstore()
  const { builds, reference } = await built(at(url))
  await builds.push(reference, { identityToken: token })

  const { publicKeyRequest } = JSON.parse(asked[0]?.body ?? '')
  const key = createPublicKey(publicKeyRequest.publicKey.content)
  const proof = Buffer.from(publicKeyRequest.proofOfPossession, 'base64')
  expect(verify('sha256', Buffer.from(SUBJECT), key, proof)).toBe(true)
  expect(asked[1]?.body).not.toContain(token)
})

describe('nothing is pushed when', () => {
  const html = (status: number, body: string) => (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(status).end(body)
  }
  test.each([
    ['Sigstore refuses', html(403, `no, not with ${token}`), /Fulcio: it responds with status 403/],
    ['Sigstore responds with nonsense', html(201, '<html>'), /Fulcio: its response is not JSON/],
    [
      'Sigstore answers something else',
      html(201, '{"hello":1}'),
      /Fulcio: its response lacks what was requested/,
    ],
    [
      'Sigstore gives no certificate',
      html(201, '{"signedCertificateEmbeddedSct":{"chain":{"certificates":[]}}}'),
      /Fulcio/,
    ],
    [
      'Sigstore sends somewhere else',
      (_: IncomingMessage, response: ServerResponse) => response.writeHead(302, { location: '/x' }).end(),
      /Fulcio/,
    ],
  ])('%s', async (_, answer, message) => {
    const url = await listen(answer)
    const { builds, reference } = await built(at(url))
    const error = await builds.push(reference, { identityToken: token }).then(
      () => expect.fail('pushed'),
      e => e,
    )

    expect(error).toMatchObject({
      code: 'skill_sigstore_failed',
      status: 400,
      message: expect.stringMatching(message),
    })
    expect(`${error.message}${error.stack}${error.cause}`).not.toContain(token)
    expect(await oci.findManifest(reference)).toBeUndefined()
  })

  test('the log says no', async () => {
    const { url } = await startSigstore()
    const down = await listen(html(500, ''))
    const { builds, reference } = await built({ ...at(url), KEELSON_SIGSTORE_REKOR_URL: down })

    await expect(builds.push(reference, { identityToken: token })).rejects.toMatchObject({
      code: 'skill_sigstore_failed',
      message: expect.stringContaining('Rekor: it responds with status 500'),
    })
    expect(await oci.findManifest(reference)).toBeUndefined()
  })

  test('nobody is there', async () => {
    const { builds, reference } = await built(at('http://127.0.0.1:1'))

    await expect(builds.push(reference, { identityToken: token })).rejects.toMatchObject({
      code: 'skill_sigstore_failed',
    })
  })

  test.each([
    ['no parts', 'abc'],
    ['no JSON', 'a.b.c'],
    ['no subject', jwt({ iss: ISSUER })],
    ['five parts', 'a.b.c.d.e'],
  ])('the token has %s', async (_, wrong) => {
    const { builds, reference } = await built({})

    await expect(builds.push(reference, { identityToken: wrong })).rejects.toMatchObject({
      code: 'skill_token_invalid',
    })
  })
})

describe('an identity token is found', () => {
  const found = (given: string | undefined, env: Record<string, string> = {}, ask = true) =>
    findIdentityToken(given, { env, ask })

  test('as it is given, or in the file that is given', async () => {
    const path = join(await temporaryFolder(), 'token')
    await writeFile(path, `${token}\n`)

    expect([await found(token), await found(path)]).toEqual([token, token])
  })

  test('from GitHub Actions, for Sigstore, when none is given', async () => {
    const seen: string[] = []
    const url = await listen((request, response) => {
      seen.push(`${request.url} ${request.headers.authorization}`)
      response.end(JSON.stringify({ value: token }))
    })
    const env = {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${url}/token?v=1`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'runner-secret',
    }

    expect(await found(undefined, env)).toBe(token)
    expect(await found(undefined, env, false)).toBeUndefined()
    expect(seen).toEqual(['/token?v=1&audience=sigstore Bearer runner-secret'])
  })

  test('nowhere else', async () => {
    expect(await found(undefined)).toBeUndefined()
    await expect(found('/nonexistent/token')).rejects.toMatchObject({ code: 'file_missing' })
  })

  test.each([
    ['says no', 403, '{"value":"x"}'],
    ['answers nonsense', 200, '<html>'],
    ['gives none', 200, '{}'],
    ['gives null', 200, 'null'],
  ])('not when GitHub Actions %s, which is a failure without the secret', async (_, status, body) => {
    const url = await listen((_request, response) => response.writeHead(status).end(body))
    const env = { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'runner-secret' }
    const error = await found(undefined, env).then(
      () => expect.fail('found'),
      e => e,
    )

    expect(error).toMatchObject({ code: 'skill_token_invalid' })
    expect(`${error.message}${error.cause}`).not.toContain('runner-secret')
  })
})
