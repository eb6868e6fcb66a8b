import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { loginFlags, readLoginFlags } from '../flags.ts'
import { RegistryCommand } from './registry-command.ts'

const flags = {
  registry: flag.string('registry API to log in to; it replaces the registry that is set', {
    placeholder: 'URL',
  }),
  ...loginFlags,
  'callback-port': flag.integer('port of this machine that the browser returns to; 0: any free one [8666]', {
    placeholder: 'PORT',
    max: 65535,
  }),
  'skip-browser': flag.boolean('print the URL to log in at, and do not open a browser'),
  'allow-private-ip': flag.boolean('allow plain http and addresses of private networks', {
    short: 'p',
  }),
} as const

export class RegistryLogin extends RegistryCommand {
  static override paths = [['registry', 'login']]
  static override usage = BaseCommand.Usage({
    category: 'Registry',
    description: 'log in to a registry API in the browser',
    details:
      '--issuer and --client-id say where to log in, and are remembered. Without them, the registry is asked for its ' +
      'identity provider (RFC 9728), and the provider for a client ID (RFC 7591). The browser returns to ' +
      '`http://localhost:8666/callback` on this machine. Tokens are kept among the secrets and renewed automatically.',
    examples: [
      ['Log in to the registry that is set', '$0 registry login'],
      [
        'Use and log in to another one',
        '$0 registry login --registry https://registry.example.com --issuer https://login.example.com --client-id keelson',
      ],
    ],
  })
  static override flags = flags

  override async execute(): Promise<void> {
    const values = this.values(flags)
    const port = values['callback-port']
    const registry = await this.app.service('registry')
    await this.askForPasswords()
    const { place } = await registry.login({
      source: values.registry,
      allowPrivate: values['allow-private-ip'] || undefined,
      auth: { ...readLoginFlags(values), ...(port === undefined ? {} : { callback_port: port }) },
      person: {
        browser: !values['skip-browser'],
        signal: this.context.signal,
        show: (url, opened) => {
          this.say(
            opened
              ? 'Log in in the browser. If none opens, open this address:'
              : 'Open this address to log in:',
          )
          this.say(url)
        },
      },
    })
    this.say(`Logged in to ${place}.`)
  }
}
