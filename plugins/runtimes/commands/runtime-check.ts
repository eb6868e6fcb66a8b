import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { fold } from '../../../src/cli/fold.ts'
import { widthOf } from '../../../src/cli/output.ts'
import type { Probed } from '../service.ts'

const flags = {
  runtime: flag.string('check only this runtime', { placeholder: 'NAME' }),
  timeout: flag.integer('how long to wait, in seconds', {
    min: 1,
    max: 3600,
    shown: '30',
    placeholder: 'SECONDS',
  }),
  format: flag.choice('output format', ['text', 'json'], 'text'),
}

const DEFAULT_SECONDS = 30

export class RuntimeCheck extends BaseCommand {
  static override paths = [['runtime', 'check']]
  static override usage = BaseCommand.Usage({
    category: 'Program',
    description: 'show which runtimes work here',
    details: 'Exits with 1 if none does, or if the one that --runtime names does not.',
    examples: [['Check docker alone', '$0 runtime check --runtime docker']],
  })
  static override flags = flags

  override async execute(): Promise<number> {
    const { runtime, timeout = DEFAULT_SECONDS, format } = this.values(flags)
    const runtimes = await this.app.service('runtimes')
    const probed = await runtimes.probeAll({ name: runtime, timeoutMs: timeout * 1000 })
    if (format === 'json') this.printJson(probed.map(toJson))
    else {
      this.printTable(
        [
          { title: 'RUNTIME', of: ({ runtime }) => runtime.name },
          { title: 'USABLE', of: ({ probe }) => (probe.ok ? 'yes' : 'no') },
          { title: 'VERSION', of: ({ probe }) => (probe.ok ? probe.version : '-') },
        ],
        probed,
      )
      for (const { runtime, probe } of probed) {
        const remarks = probe.ok ? probe.warnings : [probe.problem, probe.hint]
        const text = `\n${runtime.name}: ${remarks.join(' ')}`
        if (remarks.length) this.print(fold(text, { width: widthOf(this.context.stdout) }))
      }
    }
    return probed.some(({ probe }) => probe.ok) ? 0 : 1
  }
}

const toJson = ({ runtime, probe }: Probed) => {
  const { ok: usable, ...rest } = probe
  return { runtime: runtime.name, usable, ...rest }
}
