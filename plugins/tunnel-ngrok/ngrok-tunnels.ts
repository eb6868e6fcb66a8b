import type { App } from '../../src/app.ts'
import type { Tunnel, TunnelProvider } from '../../src/contracts/tunnel.ts'
import { toolEnvironment } from '../../src/lib/tool-environment.ts'
import type { Log } from '../../src/log.ts'
import { startProgram } from '../proxy-command/index.ts'
import { failures } from './failures.ts'
import { type NgrokArgs, readNgrokArgs } from './read-args.ts'

/** How long ngrok may take until the tunnel is open, in milliseconds. */
const OPEN_MS = 30_000

/** Opens tunnels with the program `ngrok`. */
export const createNgrokTunnels = (app: App): TunnelProvider => ({
  name: 'ngrok',
  async prepare(given) {
    const args = await readNgrokArgs(given)
    if (args.authToken !== undefined) {
      app.log.warn('Others on this machine can read the token in the arguments: put it into NGROK_AUTHTOKEN.')
    }
    return {
      intent: `open a tunnel of ngrok${args.url === undefined ? '' : ` at ${args.url}`}`,
      open: (port, { signal, log }) => openTunnel(app, args, port, { signal, log }),
    }
  },
})

function ngrokCommand(args: NgrokArgs, port: number): readonly [string, ...string[]] {
  return [
    'ngrok',
    ...['http', `http://127.0.0.1:${port}`],
    ...['--log', 'stdout', '--log-format', 'json', '--log-level', 'info'],
    '--inspect=false', // its page shows requests to every user of this machine
    ...(args.url === undefined ? [] : ['--url', args.url]),
    ...(args.trafficPolicyFile === undefined ? [] : ['--traffic-policy-file', args.trafficPolicyFile]),
    ...(args.pooling ? ['--pooling-enabled'] : []),
  ]
}

async function openTunnel(
  app: App,
  args: NgrokArgs,
  port: number,
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<Tunnel> {
  const opened = Promise.withResolvers<URL>()
  let problem = ''
  const token = args.authToken ?? app.env.NGROK_AUTHTOKEN
  const program = startProgram(ngrokCommand(args, port), {
    env: { ...toolEnvironment(app.env), ...(token === undefined ? {} : { NGROK_AUTHTOKEN: token }) },
    onLine(line) {
      const { url, error } = readLogLine(line)
      if (url) opened.resolve(url)
      if (error !== undefined) problem = error
    },
  })
  const late = AbortSignal.any([signal, AbortSignal.timeout(OPEN_MS)])
  const stopped = new Promise<string>(resolve => {
    late.addEventListener('abort', () =>
      resolve(signal.aborted ? 'interrupted' : problem || 'it does not respond'),
    )
  })
  const ended = program.ended.then(how => conceal(problem || `the program ngrok: ${how}`, token))
  const outcome = await Promise.race([opened.promise, ended, stopped])
  if (typeof outcome === 'string') {
    await program.stop()
    throw failures.ngrok_tunnel_failed({ problem: conceal(outcome, token).replace(/\.$/, '') })
  }
  log.debug(`ngrok opened ${outcome.href}`)
  return { origins: [outcome.origin], ended, close: () => program.stop() }
}

const conceal = (text: string, token: string | undefined): string =>
  token === undefined ? text : text.replaceAll(token, '…')

/** A line of its log: the URL of a tunnel that was opened, or an error. */
function readLogLine(line: string): { url?: URL; error?: string } {
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(line)
  } catch {
    return /^ERROR: +\S/.test(line) ? { error: line.replace(/^ERROR: +/, '').trim() } : {}
  }
  const { msg, url, err, lvl } = entry
  if (msg === 'started tunnel' && typeof url === 'string') {
    const parsed = URL.parse(url)
    if (parsed) return { url: parsed }
  }
  const isError =
    (lvl === 'eror' || lvl === 'crit') && typeof err === 'string' && err !== '' && err !== '<nil>'
  return isError ? { error: err.split('\n')[0] ?? err } : {}
}
