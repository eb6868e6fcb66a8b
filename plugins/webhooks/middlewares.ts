import type { App } from '../../src/app.ts'
import type { MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import { type WebhookKind, webhooksOf } from './section.ts'

const middlewareOf =
  (kind: WebhookKind) =>
  (app: App): MiddlewareFactory =>
  async (config, _listener, { log }) => {
    if (webhooksOf(config, kind).length === 0) return undefined
    const { createWebhookMiddleware } = await import('./webhook-middleware.ts')
    return createWebhookMiddleware(app, config, { kind, log })
  }

/** Lets webhooks change what clients send. */
export const mutatingMiddleware = middlewareOf('mutating')

/** Lets webhooks judge what clients send, as it goes to the server. */
export const validatingMiddleware = middlewareOf('validating')
