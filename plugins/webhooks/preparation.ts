import type { App } from '../../src/app.ts'
import type { Preparation } from '../../src/contracts/preparation.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { RunOptions } from '../../src/contracts/run-options.ts'
import { failures } from './failures.ts'
import { readWebhookFiles } from './read-webhook-files.ts'
import { WEBHOOK_LISTS } from './webhook-members.ts'

/** Confirms the webhooks of a file, and fails now where a file or a secret is missing. */
export const webhooksPreparation = (app: App): Preparation => ({
  async complete(config, { options }) {
    const confirmed = await confirm(config, options)
    if (!WEBHOOK_LISTS.some(list => confirmed[list]?.length)) return confirmed
    const { readSettings } = await import('./webhook-settings.ts')
    for (const list of WEBHOOK_LISTS) {
      for (const webhook of confirmed[list] ?? []) await readSettings(app, webhook)
    }
    return confirmed
  },
})

/**
 * A run config of a file may be a stranger's, and a webhook sees all that clients send: the person has to name each of
 * them, and decides what else is true of it. Fails with `webhook_unconfirmed`.
 */
async function confirm(config: RunConfig, options: RunOptions): Promise<RunConfig> {
  if (options['from-config'] === undefined) return config
  const own = await readWebhookFiles(options['webhook-config'] ?? [])
  for (const list of WEBHOOK_LISTS) {
    const unknown = config[list]?.find(
      ({ name, url }) => !own[list]?.some(one => one.name === name && one.url === url),
    )
    if (unknown) throw failures.webhook_unconfirmed({ name: unknown.name, url: unknown.url })
  }
  return { ...config, ...own }
}
