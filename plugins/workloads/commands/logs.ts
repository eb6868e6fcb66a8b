import { pipeline } from 'node:stream/promises'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { failures } from '../../../src/errors.ts'
import { printableStream } from '../../../src/lib/printable.ts'
import { tailFile } from '../tail-file.ts'

const flags = {
  follow: flag.boolean('keep printing what is added', { short: 'f' }),
  proxy: flag.boolean('print the log of the proxy instead of that of the server', { short: 'p' }),
  lines: flag.integer('print only the last N lines', { placeholder: 'N' }),
  raw: flag.boolean('print the bytes as they are, including control characters that can affect the terminal'),
}

export class Logs extends BaseCommand {
  static override paths = [['logs']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'show what a server, or its proxy, printed',
    examples: [['Why a client is refused', '$0 logs my-server --proxy']],
  })
  static override synopsis = 'NAME'
  static override completes = 'workloads' as const
  static override flags = flags

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { follow, proxy, lines, raw } = this.values(flags)
    if (proxy && lines !== undefined) throw failures.usage({ text: '--lines does not go with --proxy.' })
    const { signal, stdout } = this.context
    const workloads = await this.app.service('workloads')
    const log = proxy
      ? tailFile(await workloads.proxyLog(this.name), { follow, signal })
      : await workloads.logs(this.name, { follow, signal, ...(lines === undefined ? {} : { lines }) })
    // Colours are all that a server may do to a terminal, also to the one behind a pipe.
    const options = { end: false, signal }
    const shown = raw ? pipeline(log, stdout, options) : pipeline(log, printableStream(), stdout, options)
    await shown.catch(error => {
      if (!signal.aborted) throw error
    })
  }
}
