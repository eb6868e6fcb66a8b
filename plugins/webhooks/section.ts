import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { ObjectOf } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { assertWebhook } from './assert-webhook.ts'
import { failures } from './failures.ts'
import { webhooksRequest } from './section-request.ts'
import { WEBHOOK_LISTS, type WebhookConfig, webhookMembers } from './webhook-members.ts'

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof webhookMembers> {}
}

export type WebhookKind = 'mutating' | 'validating'

/** The webhooks of one kind, in the order in which they are called. */
export const webhooksOf = (config: RunConfig, kind: WebhookKind): readonly WebhookConfig[] =>
  config[`${kind}_webhooks`] ?? []

const entry = { parameter: 'webhooks', repeats: { server_name: 'name', transport: 'transport' } } as const

/** Checks the members that name webhooks. */
export const webhooksSection: Section = {
  members: webhookMembers,
  request: webhooksRequest,
  middlewareEntries: [
    { type: 'mutating-webhook', member: 'mutating_webhooks', ...entry },
    { type: 'validating-webhook', member: 'validating_webhooks', ...entry },
  ],
  check(config) {
    for (const list of WEBHOOK_LISTS) {
      const names = new Set<string>()
      for (const webhook of config[list] ?? []) {
        assertWebhook(webhook)
        if (names.has(webhook.name))
          throw failures.webhook_invalid({ name: webhook.name, problem: 'the name stands twice' })
        names.add(webhook.name)
      }
    }
  },
}
