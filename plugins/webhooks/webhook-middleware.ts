import type { App } from '../../src/app.ts'
import type { Middleware } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import { alignHeaders } from './align-headers.ts'
import { openWebhook, type Webhook } from './ask-webhook.ts'
import { createEnvelopes } from './envelope.ts'
import { judge } from './judge.ts'
import { judgedMessage } from './judged-message.ts'
import { type WebhookKind, webhooksOf } from './section.ts'
import { createWebhookLog } from './webhook-log.ts'
import type { WebhookConfig } from './webhook-members.ts'

/** Makes the middleware of a workload with webhooks of a kind. Fails where a file or a secret of one is missing. */
export async function createWebhookMiddleware(
  app: App,
  config: RunConfig,
  { kind, log: workloadLog }: { kind: WebhookKind; log: Log },
): Promise<Middleware> {
  const webhooks = await openAll(app, config, kind)
  const log = createWebhookLog(workloadLog)
  return {
    name: `${kind}-webhooks`,
    stage: kind === 'mutating' ? 'mutate' : 'validate',
    summary: webhooksOf(config, kind).map(describe).join('; '),
    wrap: next => async exchange => {
      const message = await judgedMessage(exchange)
      if (!message) return next(exchange)
      const envelopeOf = createEnvelopes(exchange, config)
      const judged = await judge(webhooks, { exchange, message, kind, envelopeOf, log })
      if (judged !== message) exchange.replaceBody(Buffer.from(judged.text, 'latin1'))
      alignHeaders(exchange, judged, { isChanged: judged !== message })
      return next(exchange)
    },
    close: () => {
      for (const webhook of webhooks) void webhook.close()
    },
  }
}

/** The host alone: the rest of the URL may hold a secret. */
const describe = ({ url, failure_policy: policy }: WebhookConfig): string =>
  `asks ${new URL(url).host}; ${policy === 'ignore' ? 'passes messages on' : 'refuses'} while it is away`

async function openAll(app: App, config: RunConfig, kind: WebhookKind): Promise<readonly Webhook[]> {
  const opened: Webhook[] = []
  try {
    for (const webhook of webhooksOf(config, kind)) opened.push(await openWebhook(app, webhook))
    return opened
  } catch (error) {
    await Promise.all(opened.map(webhook => webhook.close()))
    throw error
  }
}
