import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { isTerminal } from '../../../src/cli/output.ts'
import { messageOf } from '../../../src/errors.ts'
import { readLogin } from '../login.ts'

const flags = {
  host: flag.string('address to listen on', { placeholder: 'HOST', shown: '127.0.0.1' }),
  port: flag.integer('port to listen on; 0: any free one', {
    placeholder: 'PORT',
    max: 65535,
    shown: '8080',
  }),
  socket: flag.file('Unix socket to listen on, instead of host and port; only you may connect'),
  openapi: flag.boolean('describe the API at /api/openapi.json, and for people at /api/doc'),
  ui: flag.boolean('serve a web page at / that does the same'),
  'rate-limit': flag.integer('most requests a second from one caller; 0: no limit', {
    placeholder: 'N',
    max: 1_000_000,
    shown: '200',
  }),
  'insecure-allow-remote-without-auth': flag.boolean(
    'allow other machines to connect without a login: whoever reaches the address can start programs here',
  ),
  'sentry-dsn': flag.string('ignored, like the other flags for Sentry: nothing is sent there', {
    placeholder: 'URL',
  }),
  'sentry-environment': flag.string('ignored', { placeholder: 'NAME' }),
  'sentry-traces-sample-rate': flag.string('ignored', { placeholder: 'RATE' }),
}

/** How long this process may take to end by itself, in milliseconds. */
const EXIT_MS = 200

export class Serve extends BaseCommand {
  static override paths = [['serve']]
  static override usage = BaseCommand.Usage({
    category: 'Programs',
    description: 'serve the HTTP API until interrupted',
    details:
      'The API offers programs what the command line offers people, by default at http://127.0.0.1:8080/api/v1beta. ' +
      'The address is printed on standard output. When interrupted, it finishes the requests under way; what they have begun goes on in the background.',
    examples: [
      ['On any free port, with its description at /api/openapi.json', '$0 serve --port 0 --openapi'],
      ['With a page in the browser, at http://127.0.0.1:8080/', '$0 serve --ui'],
      ['For programs of the same user only', '$0 serve --socket ~/keelson.sock'],
      [
        'For other machines, behind a login',
        '$0 serve --host 0.0.0.0 --oidc-issuer https://login.example.com --oidc-audience keelson',
      ],
      [
        'Behind a login of its own, for programs that know only the URL',
        '$0 serve --auth-server-upstream https://login.example.com --auth-server-client-id keelson',
      ],
    ],
  })
  static override flags = flags
  static override sharesFlags = 'serve'

  override async execute(): Promise<void> {
    const values = this.values(flags)
    const login = await readLogin(this.app, this.groupValues(), this.given)
    const { serveApi } = await import('../serve-api.ts')
    await serveApi(this.app, {
      host: values.host ?? '127.0.0.1',
      port: values.port ?? 8080,
      socket: values.socket,
      openapi: values.openapi,
      ui: values.ui,
      login,
      rateLimit: values['rate-limit'] ?? 200,
      allowRemote: values['insecure-allow-remote-without-auth'],
      signal: this.context.signal,
      onUp: url => {
        this.print(url)
        if (!values.ui || login || values.socket !== undefined) return
        this.#sayHowToOpen(url).catch(error => this.say(messageOf(error)))
      },
    })
    // What is still open are requests to the next supervisor, which goes on without this process.
    setTimeout(() => process.exit(), EXIT_MS).unref()
  }

  /** The token is for the person at the terminal; where output is kept, only its file is named. */
  async #sayHowToOpen(url: string): Promise<void> {
    const { stderr } = this.context
    const callerToken = await this.app.service('callerToken')
    const token = await callerToken.required()
    if (token === undefined) return
    this.say(
      isTerminal(stderr)
        ? `Open ${url}/#token=${token}`
        : `The page asks for the token of ${callerToken.path}.`,
    )
  }
}
