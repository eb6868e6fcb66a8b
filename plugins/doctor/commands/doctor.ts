import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
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
    this.print(`${state.padEnd(WIDTH)}  ${what}: ${text}`)
    if (hint && state !== 'ok') this.print(`${' '.repeat(WIDTH)}  ${hint}`)
  }
}
