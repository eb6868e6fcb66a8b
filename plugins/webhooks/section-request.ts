import { isDeepStrictEqual } from 'node:util'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { sectionRequest } from '../../src/http/section-request.ts'
import { duration } from '../../src/lib/duration.ts'
import { either, list, nullable, optional } from '../../src/lib/schema.ts'
import { webhookName } from './assert-webhook.ts'
import { failures } from './failures.ts'
import { nanoseconds } from './timeout.ts'
import { WEBHOOK_LISTS, type WebhookConfig, webhookMembers, webhookSchema } from './webhook-members.ts'

/** What run configs say wrong, `assertWebhook` says in words; requests have bounds. */
const requested = optional(
  nullable(
    list<WebhookConfig>({
      ...webhookSchema,
      properties: {
        ...webhookSchema.properties,
        name: webhookName,
        timeout: nullable(either(nanoseconds, duration)),
      },
    }),
  ),
)

/**
 * What requests say of webhooks. A body that does not mention a kind keeps it as it is; an empty list takes it away.
 */
export const webhooksRequest = sectionRequest({
  body: { mutating_webhooks: requested, validating_webhooks: requested },
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
 * A request over HTTP names no webhook that a file of the user's has not described exactly like that: it would be sent
 * all messages, signed with any secret. Fails with `webhook_over_http`.
 */
function assertKnown(webhook: WebhookConfig, before: readonly WebhookConfig[]): void {
  if (before.some(other => isDeepStrictEqual(other, webhook))) return
  throw failures.webhook_over_http({ name: webhook.name, url: webhook.url })
}
