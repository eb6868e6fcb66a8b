import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import type { RunFlags } from '../../src/plugin.ts'

const table = {
  'webhook-config': flag.list(
    'JSON or YAML file that describes webhooks, which check or change what clients send; several files are merged',
    'FILE',
    { completes: 'file' },
  ),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** The webhooks of a workload. */
export const webhookFlags: RunFlags = {
  title: 'Webhooks',
  of: ['run'],
  flags: table,
  async apply(values: FlagValues<typeof table>, config) {
    const files = values['webhook-config']
    if (files.length === 0) return
    const { readWebhookFiles } = await import('./read-webhook-files.ts')
    Object.assign(config, await readWebhookFiles(files))
  },
}
