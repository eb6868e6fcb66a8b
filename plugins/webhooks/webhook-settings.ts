import { isAbsolute } from 'node:path'
import { createSecureContext } from 'node:tls'
import type { App } from '../../src/app.ts'
import { readCaBundle } from '../../src/ca-bundle.ts'
import { messageOf } from '../../src/errors.ts'
import { readUserBytes, readUserFile } from '../../src/user-file.ts'
import { failures } from './failures.ts'
import { timeoutOf } from './timeout.ts'
import type { WebhookConfig } from './webhook-members.ts'

/** What is needed to call a webhook. */
export interface WebhookSettings {
  readonly name: string
  readonly url: URL
  readonly timeoutMs: number
  /** Whether messages pass while it fails. */
  readonly isIgnored: boolean
  readonly mayBePrivate: boolean
  readonly tls: TlsSettings
  /** Returns the key of the signature; undefined: nothing is signed. Fails with `webhook_secret_missing`. */
  secret?: (() => Promise<Buffer>) | undefined
}

interface TlsSettings {
  /** PEM. Undefined: what the system trusts. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly rejectUnauthorized: boolean
}

/** Reads the files and secrets of a webhook. Fails where one is missing. */
export async function readSettings(app: App, webhook: WebhookConfig): Promise<WebhookSettings> {
  const secret = secretOf(app, webhook)
  const kept = await secret?.read()
  return {
    name: webhook.name,
    url: new URL(webhook.url),
    timeoutMs: timeoutOf(webhook) ?? 0,
    isIgnored: webhook.failure_policy === 'ignore',
    mayBePrivate: webhook.allow_private_ip === true,
    tls: await readTls(webhook),
    secret: secret && kept && (secret.mayChange ? secret.read : async () => kept),
  }
}

async function readTls({ name, tls_config }: WebhookConfig): Promise<TlsSettings> {
  const { ca_bundle_path, client_cert_path, client_key_path, insecure_skip_verify } = tls_config ?? {}
  const ca = await readCaBundle(ca_bundle_path)
  const client =
    client_cert_path && client_key_path
      ? {
          cert: await readUserFile(client_cert_path, 'The certificate of a webhook'),
          key: await readUserFile(client_key_path, 'The private key of a webhook'),
        }
      : {}
  try {
    createSecureContext(client)
  } catch (error) {
    const problem = 'its client certificate and private key do not belong together, or cannot be read'
    throw failures.webhook_invalid({ name, problem }, { cause: error })
  }
  return { ...(ca === undefined ? {} : { ca }), ...client, rejectUnauthorized: insecure_skip_verify !== true }
}

interface SecretSource {
  read(): Promise<Buffer>
  /** Whether it is read again for each call. */
  readonly mayChange: boolean
}

/** A path, or the name of a secret, behind which ToolHive allows `,target=…`. */
function secretOf(app: App, { name, hmac_secret_ref: reference }: WebhookConfig): SecretSource | undefined {
  if (!reference) return undefined
  const missing = (problem: string, cause?: unknown) =>
    failures.webhook_secret_missing({ name, problem }, { cause })
  if (isAbsolute(reference)) {
    return {
      mayChange: true,
      async read() {
        const bytes = await readUserBytes(reference, 'The secret file', { pipes: false }).catch(error => {
          throw missing(messageOf(error), error)
        })
        if (bytes.length === 0) throw missing(`${reference} is empty`)
        return bytes
      },
    }
  }
  const [secret = ''] = reference.split(',')
  return {
    mayChange: false,
    async read() {
      const found = await (await app.service('secrets')).find(secret)
      if (!found) throw missing(`there is no secret ${secret}`)
      return Buffer.from(found)
    },
  }
}
