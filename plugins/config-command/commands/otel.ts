import { Option } from 'clipanion'
import { BaseCommand, type CommandClass } from '../../../src/cli/base-command.ts'
import { OTEL_SETTINGS, type OtelSetting } from '../otel-values.ts'

/** `config otel set-X`, `get-X` and `unset-X` for every telemetry setting. */
export const otelCommands: readonly CommandClass[] = OTEL_SETTINGS.flatMap(setting => [
  setCommand(setting),
  getCommand(setting),
  unsetCommand(setting),
])

function setCommand({ word, key, placeholder, description, parse, show }: OtelSetting): CommandClass {
  return class extends BaseCommand {
    static override paths = [['config', 'otel', `set-${word}`]]
    static override usage = BaseCommand.Usage({ category: 'Settings', description: `set ${description}` })
    static override synopsis = placeholder

    value = Option.String()

    override async execute(): Promise<void> {
      const value = parse(this.value)
      const settings = await this.app.service('settings')
      await settings.change(current => ({ otel: { ...current('otel'), [key]: value } }))
      this.print(`otel ${word} is now ${show(value)}.`)
    }
  }
}

function getCommand({ word, key, description, show }: OtelSetting): CommandClass {
  return class extends BaseCommand {
    static override paths = [['config', 'otel', `get-${word}`]]
    static override usage = BaseCommand.Usage({ category: 'Settings', description: `show ${description}` })

    override async execute(): Promise<void> {
      const settings = await this.app.service('settings')
      const value = (await settings.get('otel'))?.[key]
      this.print(value === undefined ? `otel ${word} is not set.` : `otel ${word}: ${show(value)}`)
    }
  }
}

function unsetCommand({ word, key, description }: OtelSetting): CommandClass {
  return class extends BaseCommand {
    static override paths = [['config', 'otel', `unset-${word}`]]
    static override usage = BaseCommand.Usage({ category: 'Settings', description: `forget ${description}` })

    override async execute(): Promise<void> {
      const settings = await this.app.service('settings')
      await settings.change(current => {
        const { [key]: _, ...rest } = current('otel') ?? {}
        return { otel: Object.keys(rest).length ? rest : undefined }
      })
      this.print(`otel ${word} is not set any more.`)
    }
  }
}
