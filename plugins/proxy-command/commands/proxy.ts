import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { ask } from '../../../src/cli/prompt.ts'
import { failures } from '../../../src/errors.ts'

const flags = {
  'target-uri': flag.string('URL of the MCP server that requests go to; required', { placeholder: 'URL' }),
  host: flag.string('address or name the proxy listens on (IPv4)', {
    placeholder: 'HOST',
    shown: '127.0.0.1',
  }),
  port: flag.port('port the proxy listens on; if it is missing or in use, a free one'),
  'allowed-origins': flag.commaList(
    'origins that browsers may call from; a loopback proxy allows its own by default',
    'ORIGIN',
  ),
}

export class ProxyTarget extends BaseCommand {
  static override paths = [['proxy']]
  static override usage = BaseCommand.Usage({
    category: 'Proxies',
    description: 'put a proxy in front of an MCP server, without a workload',
    details:
      'Forwards requests until interrupted. NAME appears in messages only. The URL for clients is printed on ' +
      'standard output. With --oidc-issuer and --oidc-audience, callers have to log in. Nothing is saved.',
    examples: [
      ['In front of a server on this machine', '$0 proxy notes --target-uri http://127.0.0.1:3000'],
      [
        'For other machines, behind a login',
        '$0 proxy notes --target-uri http://127.0.0.1:3000 --host 0.0.0.0 --oidc-issuer https://login.example.com --oidc-audience notes',
      ],
    ],
  })
  static override synopsis = 'NAME'
  static override flags = flags
  static override sharesFlags = 'proxy'

  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const own = this.values(flags)
    const target = own['target-uri']
    if (target === undefined) {
      throw failures.usage({
        text: '`proxy` needs to know where requests go.',
        hint: 'Name the MCP server with --target-uri, e.g. --target-uri http://127.0.0.1:3000.',
      })
    }
    const options = this.groupValues()
    const [{ toProxyConfig }, { runProxy }] = await Promise.all([
      import('../standalone/proxy-config.ts'),
      import('../standalone/run-proxy.ts'),
    ])
    const config = await toProxyConfig(this.app, {
      name: this.name,
      target,
      host: own.host,
      port: own.port,
      allowedOrigins: own['allowed-origins'],
      options,
      given: this.given,
      readsEnvironment: true,
      signal: this.context.signal,
      say: text => this.say(text),
      ask: (question, { hidden = false, signal } = {}) =>
        hidden ? this.readSecret(question) : ask(this.context, `${question}: `, { signal }),
    })
    await runProxy(this.app, config, {
      signal: this.context.signal,
      onUp: url => {
        this.say(`${this.name} forwards to ${target} until you interrupt it. Clients connect to:`)
        this.print(url)
      },
    })
  }
}
