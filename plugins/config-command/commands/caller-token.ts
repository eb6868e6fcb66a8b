import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { failures } from '../../../src/errors.ts'

export class SetCallerToken extends BaseCommand {
  static override paths = [['config', 'set-caller-token']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'set whether callers of proxies and of the HTTP API must send a token',
    details:
      'With `off` (the default) connections from other users of this machine are refused where the system can ' +
      'identify them (Linux). With `required` a token decides: it is kept in a file that only you can read, and ' +
      'written into the configuration of registered clients. `off` deletes the token.',
    examples: [['On a macOS or Windows machine that others use too', '$0 config set-caller-token required']],
  })
  static override synopsis = 'required|off'

  state = Option.String()

  override async execute(): Promise<void> {
    if (this.state !== 'required' && this.state !== 'off') {
      throw failures.usage({ text: `set-caller-token takes required or off, not "${this.state}".` })
    }
    const token = await this.app.service('callerToken')
    await (this.state === 'required' ? token.enable() : token.disable())
  }
}

export class GetCallerToken extends BaseCommand {
  static override paths = [['config', 'get-caller-token']]
  static override usage = BaseCommand.Usage({
    category: 'Settings',
    description: 'show whether callers must send a token, and the file that holds it',
  })

  override async execute(): Promise<void> {
    const token = await this.app.service('callerToken')
    if ((await token.required()) === undefined) return this.print('Callers need no token.')
    this.print(`Callers must send the token in ${token.path} in the header Keelson-Caller-Token.`)
  }
}
