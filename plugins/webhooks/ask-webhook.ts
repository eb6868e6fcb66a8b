import type { App } from '../../src/app.ts'
import type { Envelope } from './envelope.ts'
import { readDecision, type WebhookDecision } from './read-decision.ts'
import { createWebhookClient, type WebhookClient } from './webhook-client.ts'
import type { WebhookConfig } from './webhook-members.ts'
import { readSettings } from './webhook-settings.ts'

export type WebhookOutcome =
  | { readonly kind: 'decided'; readonly decision: WebhookDecision }
  /** Status 422, which no failure policy ignores. */
  | { readonly kind: 'unprocessable' }
  | { readonly kind: 'failed'; readonly problem: string }

/** A webhook that can be asked. */
export interface Webhook {
  readonly name: string
  /** Whether messages pass while it fails. */
  readonly isIgnored: boolean
  /** Throws only when aborted. */
  ask(envelope: Envelope, signal: AbortSignal): Promise<WebhookOutcome>
  close(): Promise<void>
}

/** Opens a webhook. Fails where a file or a secret of it is missing. */
export async function openWebhook(app: App, config: WebhookConfig): Promise<Webhook> {
  const settings = await readSettings(app, config)
  const client: WebhookClient = createWebhookClient(settings)
  return {
    name: settings.name,
    isIgnored: settings.isIgnored,
    async ask({ uid, body }, signal) {
      const reply = await client.send(body, signal)
      if (reply.kind !== 'answer') return reply
      const read = readDecision(reply.body, uid)
      return 'problem' in read
        ? { kind: 'failed', problem: read.problem }
        : { kind: 'decided', decision: read.decision }
    },
    close: () => client.close(),
  }
}
