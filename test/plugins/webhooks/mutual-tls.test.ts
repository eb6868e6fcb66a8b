import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { WebhookConfig } from '../../../plugins/webhooks/webhook-members.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { rpc } from '../proxy/test-proxy.ts'
import { keepingServer, sendTo, webhookProxy } from './webhook-world.ts'

/** A certificate for localhost that signs itself, and its key. */
function certificate(folder: string, name: string) {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' })
  return { key, cert }
}

async function listen(options: ServerOptions): Promise<string> {
  const server = createServer(options, (request, response) => {
    request.resume()
    response.end('{"allowed":true}')
  })
  server.on('tlsClientError', () => {})
  server.listen(0, 'localhost')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `https://localhost:${(server.address() as AddressInfo).port}/`
}

test('a webhook and we show certificates to each other; without the right one nothing is asked', async () => {
  const folder = await temporaryFolder()
  const [theirs, ours, other] = ['theirs', 'ours', 'other'].map(name => certificate(folder, name))
  if (!theirs || !ours || !other) throw new Error('no certificates')
  const keys = { key: await readFile(theirs.key), cert: await readFile(theirs.cert) }
  const strict = await listen({
    ...keys,
    requestCert: true,
    rejectUnauthorized: true,
    ca: await readFile(ours.cert),
  })
  const old = await listen({
    ...keys,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  })
  const { target, reached } = await keepingServer()
  const ask = async (url: string, tls_config: NonNullable<WebhookConfig['tls_config']>) => {
    const webhook = { name: 'a', url, failure_policy: 'fail', allow_private_ip: true, tls_config } as const
    const { origin } = await webhookProxy({ validating_webhooks: [webhook] }, { target })
    return (await sendTo(`${origin}/mcp`, rpc('ping', 1))).status
  }
  const known = { ca_bundle_path: theirs.cert }
  const shown = ({ key, cert }: typeof ours) => ({ client_cert_path: cert, client_key_path: key })

  expect(await ask(strict, { ...known, ...shown(ours) })).toBe(200)
  expect(await ask(strict, known)).toBe(403)
  expect(await ask(strict, { ...known, ...shown(other) })).toBe(403)
  expect(await ask(strict, shown(ours))).toBe(403)
  expect(await ask(strict, { ca_bundle_path: other.cert, ...shown(ours) })).toBe(403)
  expect(await ask(strict, { insecure_skip_verify: true, ...shown(ours) })).toBe(200)
  expect(await ask(old, known)).toBe(403)
  expect(reached).toHaveLength(2)
  const mixed = { ...known, client_cert_path: ours.cert, client_key_path: other.key }
  await expect(ask(strict, mixed)).rejects.toMatchObject({ code: 'webhook_invalid' })
})
