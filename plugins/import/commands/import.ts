import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { ask } from '../../../src/cli/prompt.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isFailure } from '../../../src/errors.ts'
import { describePlanned } from '../describe.ts'
import { failures } from '../failures.ts'
import type { Planned } from '../service.ts'

const flags = {
  'dry-run': flag.boolean('only show what would be made'),
  start: flag.boolean('also start the workloads'),
  runtime: flag.string('runtime to use: docker, podman, process (default: the best that works)', {
    placeholder: 'NAME',
    completes: 'runtimes',
  }),
  yes: flag.boolean('do not ask', { short: 'y' }),
  format: flag.choice('output format of --dry-run', ['text', 'json'], 'text'),
}

export class ImportCommand extends BaseCommand {
  static override paths = [['import']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'make workloads of what another tool has configured',
    details:
      'SOURCE is `toolhive`, `docker-mcp`, or the file of a client with `mcpServers` or `servers`. It shows what would be ' +
      'made and what is left behind, and asks. The workloads are stopped unless you add --start. The values of secrets ' +
      'are not copied.',
    examples: [
      ['See what would be made', '$0 import toolhive --dry-run'],
      ['Take over the servers of a client', '$0 import ~/.cursor/mcp.json'],
    ],
  })
  static override synopsis = 'SOURCE'
  static override flags = flags

  source = Option.String({ required: true })

  override async execute(): Promise<void> {
    const { 'dry-run': dry, start, runtime, yes, format } = this.values(flags)
    const imports = await this.app.service('imports')
    const planned = await imports.plan(this.source)
    if (dry && format === 'json') return this.printJson(planned)
    for (const one of planned) for (const line of describePlanned(one)) this.print(line)
    const configs = planned.flatMap(({ config }: Planned) => config ?? [])
    if (dry) return
    if (configs.length === 0) return this.say('There is nothing to import.')
    const these = configs.length === 1 ? 'this workload' : `these ${configs.length} workloads`
    if (!yes && !(await this.confirm(`${start ? 'Make and start' : 'Make'} ${these}?`))) return
    const failed: string[] = []
    for (const config of configs) {
      if (!(await this.#make(config, { start, runtime }))) failed.push(config.name)
    }
    if (failed.length) throw failures.import_unfinished({ failed })
  }

  /** False when it failed, which is said. */
  async #make(config: RunConfig, options: { start: boolean; runtime: string | undefined }): Promise<boolean> {
    const imports = await this.app.service('imports')
    const progress = this.progress()
    progress.report(`Importing ${config.name}`)
    try {
      await imports.make(config, {
        ...options,
        signal: this.context.signal,
        report: progress.report,
        say: text => {
          progress.done()
          this.say(text)
        },
        ask: (question, { hidden = false, signal } = {}) => {
          progress.done()
          return hidden ? this.readSecret(question) : ask(this.context, `${question}: `, { signal })
        },
      })
      progress.done(`${options.start ? 'Started' : 'Imported'} ${config.name}`)
      return true
    } catch (error) {
      if (!isFailure(error) || this.context.signal?.aborted) throw error
      progress.done()
      this.say(`${config.name}: ${error.message}${error.hint ? ` ${error.hint}` : ''}`)
      return false
    } finally {
      progress.done()
    }
  }
}
