import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { fold } from '../../../src/cli/fold.ts'
import { widthOf } from '../../../src/cli/output.ts'
import type { Finding } from '../checks.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

/** As wide as the longest state. */
const WIDTH = 'warning'.length

export class Doctor extends BaseCommand {
  static override paths = [['doctor']]
  static override usage = BaseCommand.Usage({
    category: 'Program',
    description: 'check what works on this machine, and say what to do',
    details: 'Changes nothing. Exits with 1 if something has failed.',
  })
  static override flags = flags

  override async execute(): Promise<number> {
    const { examine } = await import('../checks.ts')
    const findings = await examine(this.app)
    if (this.values(flags).format === 'json') this.printJson(findings)
    else for (const finding of findings) this.#show(finding)
    return findings.some(({ state }) => state === 'failed') ? 1 : 0
  }

  #show({ what, state, text, hint }: Finding): void {
    const indent = WIDTH + 2
    const width = widthOf(this.context.stdout)
    const lines = [`${state.padEnd(indent)}${what}: ${text}`]
    if (hint && state !== 'ok') lines.push(`${' '.repeat(indent)}${hint}`)
    this.print(fold(lines.join('\n'), { width, indent }))
  }
}
