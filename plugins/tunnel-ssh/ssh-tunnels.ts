import type { App } from '../../src/app.ts'
import type { Tunnel, TunnelProvider } from '../../src/contracts/tunnel.ts'
import { toolEnvironment } from '../../src/lib/tool-environment.ts'
import type { Log } from '../../src/log.ts'
import { startProgram } from '../proxy-command/index.ts'
import { failures } from './failures.ts'
import { readSshArgs, type SshArgs } from './read-args.ts'

/** How long ssh may take until the server listens, in milliseconds. */
const OPEN_MS = 30_000

/** Opens tunnels with `ssh -R`. */
export const createSshTunnels = (app: App): TunnelProvider => ({
  name: 'ssh',
  async prepare(given) {
    const args = readSshArgs(given)
    const where = args.remotePort === 0 ? 'a port that it chooses' : `port ${args.remotePort}`
    return {
      intent: `listen on ${where} of ${args.destination}`,
      open: (port, { signal, log }) => openTunnel(app, args, port, { signal, log }),
    }
  },
})

function sshCommand(args: SshArgs, localPort: number): readonly [string, ...string[]] {
  const bind = args.bindAddress === undefined ? '' : `${bracketed(args.bindAddress)}:`
  const options = [
    'BatchMode=yes', // never a question, which nobody would see
    'ExitOnForwardFailure=yes',
    'ServerAliveInterval=15',
    'ServerAliveCountMax=3',
    'ControlPath=none', // a shared connection would keep the forwarding after we have ended
    ...(args.knownHostsFile === undefined ? [] : [`UserKnownHostsFile="${args.knownHostsFile}"`]),
  ]
  return [
    'ssh',
    ...['-v', '-N', '-T'],
    ...options.flatMap(option => ['-o', option]),
    ...(args.port === undefined ? [] : ['-p', String(args.port)]),
    ...(args.identityFile === undefined ? [] : ['-i', args.identityFile]),
    ...['-R', `${bind}${args.remotePort}:127.0.0.1:${localPort}`],
    ...['--', args.destination],
  ]
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

async function openTunnel(
  app: App,
  args: SshArgs,
  localPort: number,
  { signal, log }: { signal: AbortSignal; log: Log },
): Promise<Tunnel> {
  const { destination } = args
  const listening = Promise.withResolvers<number>()
  let last = ''
  const program = startProgram(sshCommand(args, localPort), {
    env: { ...toolEnvironment(app.env), ...agentOf(app) },
    onLine(line) {
      const port = portIn(line, args.remotePort)
      if (port !== undefined) listening.resolve(port)
      if (!/^(debug\d|OpenSSH_|Authenticated to |Allocated port )/.test(line) && line.trim())
        last = line.trim()
      log.debug(line)
    },
  })
  const late = AbortSignal.any([signal, AbortSignal.timeout(OPEN_MS)])
  const stopped = new Promise<string>(resolve => {
    late.addEventListener('abort', () =>
      resolve(signal.aborted ? 'interrupted' : 'the server does not respond'),
    )
  })
  const ended = program.ended.then(how => last || `ssh: ${how}`)
  const port = await Promise.race([listening.promise, ended, stopped])
  if (typeof port === 'string') {
    await program.stop()
    throw failures.ssh_tunnel_failed({ destination, problem: port.replace(/\.$/, '') })
  }
  return { origins: originsOf(args, port), ended, close: () => program.stop() }
}

/** Where the server listens, in the words of OpenSSH. */
function portIn(line: string, asked: number): number | undefined {
  const allocated = /^Allocated port (\d+) for remote forward/.exec(line)?.[1]
  if (allocated !== undefined) return Number(allocated)
  return asked !== 0 && /remote forward success/.test(line) ? asked : undefined
}

/** The agent with the user's keys. */
const agentOf = ({ env }: App): Record<string, string> =>
  env.SSH_AUTH_SOCK === undefined ? {} : { SSH_AUTH_SOCK: env.SSH_AUTH_SOCK }

function originsOf({ destination, url }: SshArgs, port: number): readonly [string, ...string[]] {
  const host = destination.replace(/^.*@/, '')
  const there = [`http://${host}:${port}`, `http://localhost:${port}`, `http://127.0.0.1:${port}`] as const
  return url === undefined ? [...there] : [new URL(url).origin, ...there]
}
