import { isAbsolute } from 'node:path'
import type { Schema } from '../../src/lib/schema.ts'
import { toTextCheck } from '../../src/lib/text-schema.ts'
import { assertNotPrivate } from '../../src/net/guarded-lookup.ts'
import { failures } from './failures.ts'
import { timeoutOf } from './timeout.ts'
import type { WebhookConfig } from './webhook-members.ts'

/** The schema of a webhook's name, which stands in logs and in the audit. */
export const webhookName: Schema<string> = {
  type: 'string',
  pattern: '^[\\p{L}\\p{N}][\\p{L}\\p{N} ._\\/\\-]*$',
  maxLength: 100,
  description: 'Letters, digits, spaces and any of . _ / -',
}
const isWebhookName = toTextCheck(webhookName)

/** Checks what schemas cannot say. Fails with `webhook_invalid`. */
export function assertWebhook(webhook: WebhookConfig): void {
  const { name, tls_config: tls, hmac_secret_ref: secret } = webhook
  const wrong = (problem: string) => failures.webhook_invalid({ name: name.slice(0, 100), problem })
  if (!isWebhookName(name)) {
    throw wrong('a name has letters, digits, spaces and any of . _ / -, at most 100 of them')
  }
  const problem = urlProblem(webhook)
  if (problem !== undefined) throw wrong(problem)
  if (timeoutOf(webhook) === undefined) throw wrong('timeout is a duration from 1s to 30s')
  if (secret !== undefined && !secret) throw wrong('hmac_secret_ref is empty')
  const paths = [tls?.ca_bundle_path, tls?.client_cert_path, tls?.client_key_path]
  if (paths.some(path => path && !isAbsolute(path))) throw wrong('the paths of tls_config are absolute')
  if (!tls?.client_cert_path !== !tls?.client_key_path) {
    throw wrong('client_cert_path and client_key_path go together')
  }
}

function urlProblem({ url: text, tls_config: tls, allow_private_ip: mayBePrivate }: WebhookConfig) {
  const url = URL.parse(text)
  const isHttp = url?.protocol === 'http:' && tls?.insecure_skip_verify === true
  if (!url || (url.protocol !== 'https:' && !isHttp)) {
    return 'its URL is https, or http with insecure_skip_verify'
  }
  if (url.username || url.password) return 'its URL holds a user name or password'
  if (mayBePrivate) return undefined
  try {
    assertNotPrivate(url)
  } catch {
    return `${url.hostname} is a private address, which needs allow_private_ip`
  }
  return undefined
}
