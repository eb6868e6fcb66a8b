import { isDeepStrictEqual } from 'node:util'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flagsOf } from '../../../src/cli/command-table.ts'
import { parseRunConfig, type RunConfig } from '../../../src/contracts/run-config.ts'
import { Failure, failures, messageOf } from '../../../src/errors.ts'
import type { RunRequest } from '../build-config.ts'
import { editText } from '../change/edit-text.ts'
import { runFlags } from '../flags.ts'
import { RUN_HINTS } from './run-hints.ts'

export class Edit extends BaseCommand {
  static override paths = [['edit']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'change a workload, with flags or in your editor',
    details:
      'Without flags, the run config is opened in $EDITOR. -e, --label and --secret change what they name; every other ' +
      'flag replaces what was there. All is checked before anything stops. A running server is restarted; if it does not ' +
      'start with the change, it is started as it was.',
    examples: [
      ['Change a variable', '$0 edit github -e LOG_LEVEL=debug'],
      ['Edit everything', '$0 edit github'],
    ],
  })
  static override synopsis = 'NAME'
  static override completes = 'workloads' as const
  static override passthrough = true
  static override sharesFlags = 'run'
  static override flags = runFlags
  static override hints = RUN_HINTS

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const workloads = await this.app.service('workloads')
    const before = await workloads.config(this.name)
    const { given } = this
    if (given.size === 0 && this.context.passthrough.length === 0) return this.#inEditor(before)
    const request = this.#request(given)
    const table = flagsOf(this.constructor as never)
    await this.#change(before, await workloads.withFlags(before, request, table), request)
  }

  async #inEditor(before: RunConfig): Promise<void> {
    let text = `${JSON.stringify(before, null, 2)}\n`
    for (;;) {
      text = await editText(text, { env: this.app.env, file: `${this.name}.json` })
      try {
        const edited = parseRunConfig(text, `${this.name}.json`)
        if (edited.name !== this.name)
          throw failures.usage({
            text: 'An edit does not change the name.',
            hint: `Use \`keelson rename ${this.name} NEW\`.`,
          })
        return await this.#change(before, edited, this.#request(new Set()))
      } catch (error) {
        if (!(error instanceof Failure) || !this.onTerminal) throw error
        this.say(messageOf(error))
        if (!(await this.confirm('Edit again?'))) throw error
      }
    }
  }

  async #change(before: RunConfig, edited: RunConfig, request: RunRequest): Promise<void> {
    if (isDeepStrictEqual(edited, before)) return this.print(`${this.name}: unchanged`)
    const workloads = await this.app.service('workloads')
    const progress = this.progress()
    const wanted = { ...request, whole: edited, replaces: before, report: progress.report }
    try {
      const config = await workloads.prepare(wanted)
      progress.report(`Changing ${this.name}`)
      await workloads.edit(before, config)
    } finally {
      progress.done()
    }
    this.print(`${this.name}: changed`)
  }

  #request(given: ReadonlySet<string>): RunRequest {
    return {
      argument: '',
      serverArgs: this.context.passthrough,
      options: { ...this.values(runFlags), ...this.groupValues() },
      given,
      cwd: process.cwd(),
      debug: this.app.debug,
      signal: this.context.signal,
    }
  }
}
