import { failures } from '../../../src/errors.ts'
import type {} from '../../callers/index.ts'
import type { Setting } from '../setting.ts'

export const callerToken: Setting = {
  name: 'caller-token',
  set: {
    description: 'set whether callers of proxies and of the HTTP API must send a token',
    details:
      'With `off` (the default) connections from other users of this machine are refused where the system can ' +
      'identify them (Linux). With `required` callers must send a token. It is kept in a file that only you can read, ' +
      'and written into the configuration of registered clients. `off` deletes the token.',
    examples: [['On a macOS or Windows machine that others use too', '$0 config set-caller-token required']],
    synopsis: 'required|off',
    async run({ app, args: [state] }) {
      if (state !== 'required' && state !== 'off') {
        throw failures.usage({ text: `set-caller-token takes required or off, not "${state}".` })
      }
      const token = await app.service('callerToken')
      await (state === 'required' ? token.enable() : token.disable())
    },
  },
  get: {
    description: 'show whether callers must send a token, and the file that holds it',
    async run({ app, print }) {
      const token = await app.service('callerToken')
      if ((await token.required()) === undefined) return print('Callers need no token.')
      print(`Callers must send the token in ${token.path} in the header Keelson-Caller-Token.`)
    },
  },
}
