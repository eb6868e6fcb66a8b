import { pipeline } from 'node:stream/promises'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { failures } from '../../../src/errors.ts'
import { printableStream } from '../../../src/lib/printable.ts'
import { tailFile } from '../../../src/lib/tail-file.ts'

const flags = {
  follow: flag.boolean('keep printing what is added', { short: 'f' }),
  proxy: flag.boolean('print the log of the proxy instead of that of the server', { short: 'p' }),
  tail: flag.integer('print only the last N lines', { placeholder: 'N', short: 'n' }),
  since: flag.duration('print only what is younger than this; not on the process runtime'),
  timestamps: flag.boolean('print the time of each line; not on the process runtime', { short: 't' }),
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
  static override hints = {
    lines: 'Use `--tail N`.',
    details: '`keelson inspect NAME` shows all there is about a workload.',
    until: '`--since DURATION` and `--tail N` choose what is printed.',
    c: 'A workload has one container.',
    previous: 'The log goes on after a restart, so what was printed before is in it.',
  }

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { follow, proxy, tail: lines, since: sinceMs, timestamps, raw } = this.values(flags)
    if (proxy && (sinceMs !== undefined || timestamps)) {
      throw failures.usage({
        text: '--since and --timestamps do not go with --proxy.',
        hint: 'Each line of the log of a proxy has its time.',
      })
    }
    const { signal, stdout } = this.context
    const workloads = await this.app.service('workloads')
    const log = proxy
      ? tailFile(await workloads.proxyLog(this.name), { follow, signal, lines })
      : await workloads.logs(this.name, {
          ...{ follow, signal, timestamps },
          ...(lines === undefined ? {} : { lines }),
          ...(sinceMs === undefined ? {} : { since: new Date(Date.now() - sinceMs) }),
        })
    // Colours are all that a server may do to a terminal, also to the one behind a pipe.
    const options = { end: false, signal }
    const shown = raw ? pipeline(log, stdout, options) : pipeline(log, printableStream(), stdout, options)
    await shown.catch(error => {
      if (!signal.aborted) throw error
    })
  }
}
