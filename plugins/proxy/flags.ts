import { lookup } from 'node:dns/promises'
import { isIPv4, isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import type { FlagOptions, FlagValues } from '../../src/cli/flags.ts'
import { flag } from '../../src/cli/flags.ts'
import { PROTOCOL_OPTIONS, PROXY_MODES } from '../../src/contracts/run-config.ts'
import { failures } from '../../src/errors.ts'
import { formatDuration } from '../../src/lib/duration.ts'
import { parseMemory } from '../../src/lib/resources.ts'
import type { RunFlags } from '../../src/plugin.ts'
import { DEFAULT_MAX_PROCESSES, DEFAULT_MAX_PROCESSES_PER_CALLER, SESSION_MODES } from './session-modes.ts'

const table = {
  'allowed-origins': flag.commaList(
    'origins that browsers may call from; a loopback proxy allows its own by default',
    'ORIGIN',
  ),
  'endpoint-prefix': flag.string('path to put before the endpoints that an SSE server announces', {
    placeholder: 'PATH',
  }),
  host: flag.string('address or name the proxy listens on (IPv4)', {
    placeholder: 'HOST',
    shown: '127.0.0.1',
  }),
  'proxy-mode': flag.choice(
    'transport whose URL clients of a stdio server are given; both work (sse is deprecated)',
    PROXY_MODES,
    'streamable-http',
  ),
  'proxy-port': flag.port('port the proxy listens on (default: a free one)'),
  sessions: flag.choice(
    'whether the clients of a stdio server share one process: auto decides for each new client',
    SESSION_MODES,
    'shared',
  ),
  'max-processes': flag.integer('most processes of a server that serve one client each (--sessions)', {
    placeholder: 'N',
    shown: String(DEFAULT_MAX_PROCESSES),
  }),
  'max-processes-per-caller': flag.integer('most such processes for one caller who has logged in', {
    placeholder: 'N',
    shown: String(DEFAULT_MAX_PROCESSES_PER_CALLER),
  }),
  'spare-processes': flag.integer('processes started ahead for the next client: 0 or 1', {
    placeholder: 'N',
    shown: '0',
  }),
  'session-ttl': flag.duration('how long an idle session is kept; 0: the default', '2h'),
  stateless: flag.boolean('the server keeps no sessions, so clients may only POST (streamable-http)'),
  'trust-proxy-headers': flag.boolean('trust X-Forwarded-Proto, -Host, -Port and -Prefix'),
  'target-host': flag.string('host the server listens on (sse and streamable-http)', {
    placeholder: 'HOST',
    shown: '127.0.0.1',
  }),
  'target-port': flag.port('port the server listens on (sse and streamable-http)'),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** Turns what `--host` says into the address that is listened on: the name's first IPv4 address. */
export async function resolveHost(host: string): Promise<string> {
  if (isIPv4(host)) return host
  if (isIPv6(host.replace(/^\[|\]$/g, ''))) {
    throw failures.usage({ text: `--host takes an IPv4 address or a name, not the IPv6 address "${host}".` })
  }
  if (host === 'localhost') return '127.0.0.1'
  try {
    return (await lookup(host, { family: 4 })).address
  } catch (error) {
    throw failures.usage(
      { text: `--host "${host}" is neither an IPv4 address nor a name that has one.` },
      { cause: error },
    )
  }
}

const body = {
  'max-body-size': flag.string('most bytes of a request body, from 1k to 64m', {
    placeholder: 'SIZE',
    shown: '8m',
  }),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof body> {}
}

/** What clients may send; the same for workloads and for the standalone proxy. */
export const bodyFlags: RunFlags = {
  title: 'Request bodies',
  of: ['run', 'proxy'],
  flags: body,
  apply(values: FlagValues<typeof body>, config) {
    const size = values['max-body-size']
    if (size === undefined) return
    const bytes = parseMemory(size)
    if (bytes === undefined) {
      throw failures.usage({ text: `--max-body-size takes a size such as 512k or 16m, not "${size}".` })
    }
    config.max_body_bytes = bytes
  },
}

const protocol = {
  protocol: flag.choice(
    'which era of MCP the server speaks: legacy has initialize, stateless is 2026-07-28',
    PROTOCOL_OPTIONS,
    'auto',
  ),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof protocol> {}
}

/** How the server speaks; the same for workloads and for the standalone proxy. */
export const protocolFlags: RunFlags = {
  title: 'Protocol',
  of: ['run', 'proxy'],
  flags: protocol,
  apply(values: FlagValues<typeof protocol>, config, given) {
    if (given.has('protocol')) config.protocol = values.protocol
  },
}

const trust = {
  'svc-ca-bundle': flag.file(
    'PEM file of certificates to trust besides those of the system, for the remote server and for identity providers',
  ),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof trust> {}
}

/** Whom keelson itself trusts in TLS; the same for workloads and for the standalone proxy. */
export const trustFlags: RunFlags = {
  title: 'Trust',
  of: ['run', 'serve', 'proxy'],
  flags: trust,
  async apply(values: FlagValues<typeof trust>, config) {
    const path = values['svc-ca-bundle']
    if (path === undefined) return
    const { readCaBundle } = await import('../../src/ca-bundle.ts')
    await readCaBundle(path) // fails now rather than at the first connection
    config.svc_ca_bundle = resolve(path)
  },
}

/** The proxy's flags of `run`. */
export const proxyFlags: RunFlags = {
  title: 'Proxy',
  of: ['run'],
  flags: table,
  async apply(values: FlagValues<typeof table>, config, given) {
    if (values['allowed-origins'].length) config.allowed_origins = [...values['allowed-origins']]
    if (values['endpoint-prefix'] !== undefined) config.endpoint_prefix = values['endpoint-prefix']
    if (values.host !== undefined) config.host = await resolveHost(values.host)
    if (given.has('proxy-mode')) config.proxy_mode = values['proxy-mode']
    if (values['proxy-port'] !== undefined) config.port = values['proxy-port']
    if (given.has('sessions')) config.sessions = values.sessions
    if (values['max-processes'] !== undefined) config.max_processes = values['max-processes']
    if (values['max-processes-per-caller'] !== undefined) {
      config.max_processes_per_caller = values['max-processes-per-caller']
    }
    if (values['spare-processes'] !== undefined) config.spare_processes = values['spare-processes']
    if (given.has('session-ttl') && values['session-ttl']) {
      config.session_ttl = formatDuration(values['session-ttl'])
    }
    if (values.stateless) config.stateless = true
    if (values['trust-proxy-headers']) config.trust_proxy_headers = true
    if (values['target-host'] !== undefined) config.target_host = values['target-host']
    if (values['target-port'] !== undefined) config.target_port = values['target-port']
  },
}
