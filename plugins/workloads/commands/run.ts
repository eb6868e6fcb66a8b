import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { ask } from '../../../src/cli/prompt.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { RunOptions } from '../../../src/contracts/run-options.ts'
import { failures } from '../../../src/errors.ts'
import { runFlags } from '../flags.ts'
import { startedText } from '../status-text.ts'
import { noteWait } from './note-wait.ts'
import { RUN_HINTS } from './run-hints.ts'

export class Run extends BaseCommand {
  static override paths = [['run']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'run an MCP server as a workload',
    details:
      'TARGET is the name of a server in the registry (see `keelson search`), a package (npx://, uvx://, ' +
      'go:// or go://./path), a container image or the URL of a remote server. The URL for clients is ' +
      'printed on standard output. Arguments of the server go after `--`.',
    examples: [
      ['Run an npm package', '$0 run npx://@modelcontextprotocol/server-everything'],
      [
        'Run an image that listens on port 8000',
        '$0 run --transport streamable-http --target-port 8000 my/server',
      ],
      ['Put the proxy in front of a remote server', '$0 run https://example.com/mcp --name example'],
      [
        'Mount a folder, and give the server an argument',
        '$0 run npx://@modelcontextprotocol/server-filesystem -v $PWD:/data -- /data',
      ],
    ],
  })
  static override synopsis = '[TARGET]'
  static override surplus =
    'A package is written npx://NAME or uvx://NAME; arguments of the server go after `--`.'
  static override completes = 'servers' as const
  static override passthrough = true
  static override sharesFlags = 'run'
  static override flags = runFlags
  static override hints = RUN_HINTS

  target = Option.String({ required: false })

  override async execute(): Promise<number> {
    const options = this.#options()
    if (!options['from-config'] && this.target === undefined) {
      throw failures.usage({
        text: '`run` needs to know what to run.',
        hint: 'Name a package, an image or a URL, or give --from-config.',
      })
    }
    const workloads = await this.app.service('workloads')
    const progress = this.progress()
    let config: RunConfig
    try {
      config = await workloads.prepare({
        argument: this.target ?? '',
        serverArgs: this.context.passthrough,
        options,
        given: this.given,
        typed: true,
        cwd: process.cwd(),
        debug: this.app.debug,
        signal: this.context.signal,
        report: progress.report,
        say: text => {
          progress.done()
          this.say(text)
        },
        ask: (question, { hidden = false, signal } = {}) => {
          progress.done()
          return hidden && this.onTerminal
            ? this.readSecret(question)
            : ask(this.context, `${question}: `, { signal })
        },
      })
      if (!options.foreground) {
        progress.report(`Starting ${config.name}`)
        const portIsGiven = this.given.has('proxy-port') || options['from-config'] !== undefined
        const up = workloads.run(config, { portIsGiven, signal: this.context.signal })
        const workload = await noteWait(progress, `Waiting until ${config.name} responds`, up)
        progress.done(workload.status === 'running' ? `Started ${workload.name}` : undefined)
        this.say(startedText(workload, Date.now()))
        this.print(workload.url)
        return workload.status === 'unhealthy' ? 1 : 0
      }
    } finally {
      progress.done()
    }
    await workloads.runInForeground(config, {
      signal: this.context.signal,
      onUp: workload => {
        this.say(`${workload.name} is running until you interrupt it. Clients connect to:`)
        this.print(workload.url)
      },
    })
    return 0
  }

  /** What the flags set, those of other plugins among them. */
  #options(): RunOptions {
    const { flags } = this.constructor as typeof BaseCommand
    return { ...this.values(flags), ...this.groupValues() }
  }
}
