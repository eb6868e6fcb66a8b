import { Option } from 'clipanion'
import { BaseCommand, type CommandClass } from '../../../src/cli/base-command.ts'
import type { Setting, SettingAction } from '../setting.ts'

const ACTIONS = ['set', 'get', 'unset'] as const

/** The commands `config set-X`, `get-X` and `unset-X`, as far as the setting has them. */
export const settingCommands = (setting: Setting): CommandClass[] =>
  ACTIONS.flatMap(verb => {
    const action = setting[verb]
    return action ? [toCommand(['config', ...(setting.under ?? []), `${verb}-${setting.name}`], action)] : []
  })

function toCommand(path: string[], action: SettingAction): CommandClass {
  const { description, details, examples, synopsis = '', flags = {} } = action
  const args = synopsis.split(' ').filter(Boolean)
  return class extends BaseCommand {
    static override paths = [path]
    static override usage = BaseCommand.Usage({
      category: 'Settings',
      description,
      ...(details ? { details } : {}),
      ...(examples ? { examples: examples.map(([text, command]) => [text, command]) } : {}),
    })
    static override synopsis = synopsis
    static override flags = flags

    constructor() {
      super()
      for (const arg of args) {
        Reflect.set(this, arg, arg.startsWith('[') ? Option.String({ required: false }) : Option.String())
      }
    }

    override execute(): Promise<void> {
      return action.run({
        app: this.app,
        args: args.map(arg => Reflect.get(this, arg) as string | undefined),
        values: this.values(flags),
        print: line => this.print(line),
        printContent: text => this.printContent(text),
        readPiped: async () => (this.onTerminal ? undefined : this.readSecret('')),
      })
    }
  }
}
