import { once } from 'node:events'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { ask } from '../../../src/cli/prompt.ts'

const flags = {
  'tunnel-provider': flag.string(
    'provider that opens the tunnel: ngrok, ssh, or one that a plugin adds; required',
    {
      placeholder: 'PROVIDER',
    },
  ),
  'provider-args': flag.string('JSON object with the arguments of the provider', {
    placeholder: 'JSON',
    shown: '{}',
  }),
  'allowed-origins': flag.commaList('further origins that browsers may call from', 'ORIGIN'),
}

export class ProxyTunnel extends BaseCommand {
  static override paths = [['proxy', 'tunnel']]
  static override usage = BaseCommand.Usage({
    category: 'Proxies',
    description: 'make a workload or a URL reachable from elsewhere through a tunnel',
    details:
      'TARGET is a running workload or a URL. NAME appears in messages only. The public URL is printed on ' +
      'standard output. Whoever knows it may call the server, unless callers have to log in (--oidc-issuer). ' +
      'With "dry-run" among the arguments of the provider, everything is checked and nothing is opened.',
    examples: [
      [
        'With the program ngrok, whose token is in NGROK_AUTHTOKEN',
        '$0 proxy tunnel fetch fetch --tunnel-provider ngrok',
      ],
      [
        'At port 8080 of a server that you reach with ssh',
        `$0 proxy tunnel fetch fetch --tunnel-provider ssh --provider-args '{"destination":"me@example.com","remote-port":8080}'`,
      ],
    ],
  })
  static override synopsis = 'TARGET NAME'
  static override completes = 'workloads' as const
  static override flags = flags
  static override sharesFlags = 'proxy'

  target = Option.String({ required: true })
  name = Option.String({ required: true })

  override async execute(): Promise<void> {
    const own = this.values(flags)
    const { signal } = this.context
    const options = this.groupValues()
    const [{ readTunnelRequest }, { findTunnelTarget }, { toProxyConfig }, { runTunnel }] = await Promise.all(
      [
        import('../tunnel/read-request.ts'),
        import('../tunnel/find-target.ts'),
        import('../standalone/proxy-config.ts'),
        import('../tunnel/run-tunnel.ts'),
      ],
    )
    const { tunnel, dryRun } = await readTunnelRequest(this.app, {
      provider: own['tunnel-provider'],
      args: own['provider-args'] ?? '{}',
    })
    const target = await findTunnelTarget(this.app, this.target, signal)
    const config = await toProxyConfig(this.app, {
      name: this.name,
      target: target.url,
      allowedOrigins: own['allowed-origins'],
      options,
      given: this.given,
      readsEnvironment: !target.isWorkload,
      signal,
      say: text => this.say(text),
      ask: (question, { hidden = false, signal } = {}) =>
        hidden ? this.readSecret(question) : ask(this.context, `${question}: `, { signal }),
    })
    const needsLogin = (await (await this.app.find('callerAuths'))?.isRequired(config)) ?? false
    if (dryRun) {
      this.say(`Dry run for ${this.name}: it would ${tunnel.intent}, to ${target.url}. Nothing is open.`)
      return untilAborted(signal)
    }
    await runTunnel(this.app, config, {
      tunnel,
      middlewares: target.middlewares,
      signal,
      onUp: url => {
        this.say(
          `${this.name} is reachable from elsewhere until you interrupt it, and leads to ${target.url}.`,
        )
        if (!needsLogin) this.say('Nobody has to log in: whoever knows the URL may call the server.')
        this.print(url)
      },
    })
  }
}

/** Waits for the signal; a timer keeps the process, which nothing else would. */
async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const timer = setInterval(() => undefined, 60_000)
  await once(signal, 'abort')
  clearInterval(timer)
}
