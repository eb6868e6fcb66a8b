import { isAbsolute } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { sectionRequest } from '../../src/http/section-request.ts'
import { failures } from './failures.ts'
import { WEBHOOK_LISTS, type WebhookConfig, webhookMembers } from './webhook-members.ts'

/**
 * What requests say of webhooks. A body that does not mention a kind keeps it as it is; an empty list takes it away.
 */
export const webhooksRequest = sectionRequest({
  body: webhookMembers,
  details: webhookMembers,
  toOptions: () => ({}),
  toMembers(body, kept) {
    const members: Partial<RunConfig> = {}
    for (const list of WEBHOOK_LISTS) {
      const asked = body[list]
      if (!asked) continue
      for (const webhook of asked) assertKnown(webhook, kept[list] ?? [])
      if (asked.length || kept[list]?.length) members[list] = asked
    }
    return members
  },
  toDetails: config =>
    Object.fromEntries(WEBHOOK_LISTS.flatMap(list => (config[list]?.length ? [[list, config[list]]] : []))),
  keptAlways: WEBHOOK_LISTS,
})

/**
 * A request over HTTP names neither files of this machine nor private addresses: only webhooks that are as a file of
 * the user's has said may have them. Fails with `webhook_over_http`.
 */
function assertKnown(webhook: WebhookConfig, before: readonly WebhookConfig[]): void {
  if (before.some(other => isDeepStrictEqual(other, webhook))) return
  const { name, tls_config: tls, hmac_secret_ref: secret, allow_private_ip: mayBePrivate } = webhook
  const refused = [
    ['hmac_secret_ref', secret && isAbsolute(secret)],
    ['tls_config.ca_bundle_path', tls?.ca_bundle_path],
    ['tls_config.client_cert_path', tls?.client_cert_path],
    ['tls_config.client_key_path', tls?.client_key_path],
    ['allow_private_ip', mayBePrivate],
  ].find(([, said]) => said)
  if (refused) throw failures.webhook_over_http({ name, member: String(refused[0]) })
}
