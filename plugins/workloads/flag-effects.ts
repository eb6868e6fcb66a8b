import type { ProxyMode, RunConfig, Transport } from '../../src/contracts/run-config.ts'

/** What is known of a run when a flag is judged; what is not known yet is left out. */
export interface Situation {
  /** What was typed. */
  readonly argument: string
  /** What it turned out to be: an image, a package, or a server that runs elsewhere. */
  readonly kind?: 'image' | 'package' | 'remote' | undefined
  readonly fromRegistry: boolean
  readonly transport?: Transport | undefined
  /** How clients speak to the proxy. */
  readonly proxyMode?: ProxyMode | undefined
  /** Whether the runtime makes containers; known when the runtime is. */
  readonly contained?: boolean | undefined
  /** Known when the runtime has been asked. */
  readonly isolated?: boolean | undefined
}

/** Why a flag has no effect in a situation, as the end of "--flag does not go with …"; undefined when it has. */
type Judge = (situation: Situation, value?: unknown) => string | undefined

const always: Judge = () => undefined

const remote = ({ argument }: Situation): string =>
  `${nameOfRemote(argument)}: that server is run by somebody else.`

/** The URL itself, or the registry's name for it. */
export const nameOfRemote = (argument: string): string =>
  argument.includes('://') ? `the URL ${argument}` : `the remote server ${argument}`

const local: Judge = s => (s.kind === 'remote' ? remote(s) : undefined)

/** A URL of the registry may have variables in it, which are filled from the command line. */
const localOrFilled: Judge = s => (s.fromRegistry ? undefined : local(s))

const packages: Judge = s =>
  s.kind === 'image' ? `the image ${s.argument}: it is for packages (npx://, uvx://, go://).` : local(s)

const builtImages: Judge = s =>
  packages(s) ?? (s.contained === false ? 'a runtime that runs packages without an image.' : undefined)

const listening: Judge = s =>
  local(s) ?? (s.transport === 'stdio' ? '--transport stdio: such a server listens on no port.' : undefined)

const announced: Judge = s =>
  s.proxyMode !== undefined && s.proxyMode !== 'sse'
    ? `${s.proxyMode}: only SSE servers announce an endpoint.`
    : undefined

const spoken: Judge = (s, mode) =>
  s.transport === undefined || s.transport === 'stdio' || s.transport === mode
    ? undefined
    : `--transport ${s.transport}: clients speak to such a server as it speaks itself.`

const sandboxed: Judge = s =>
  s.kind === 'image' ? `the image ${s.argument}: its container is the sandbox.` : local(s)

const fromRegistry: Judge = s =>
  s.fromRegistry ? undefined : `${s.argument}: only an entry of a registry asks for permissions.`

const gateway: Judge = s =>
  local(s) ??
  (s.contained === false
    ? 'a runtime without containers: there is no gateway.'
    : s.isolated === false
      ? 'a server that is not isolated: it reaches the gateway anyway, or has no network.'
      : undefined)

/**
 * Every flag of `run`, and what it needs to have an effect. A flag that is not here is not judged; a test
 * holds that all are here.
 */
export const FLAG_EFFECTS: Readonly<Record<string, Judge>> = {
  name: always,
  group: always,
  label: always,
  foreground: always,
  'from-config': always,
  transport: always,
  host: always,
  'proxy-port': always,
  'allowed-origins': always,
  'session-ttl': always,
  'trust-proxy-headers': always,
  stateless: always, // its own check refuses every transport but one
  'proxy-mode': spoken,
  'endpoint-prefix': announced,
  'target-host': listening,
  'target-port': listening,
  runtime: local,
  env: localOrFilled,
  'env-file': localOrFilled,
  'env-file-dir': local,
  secret: local,
  volume: local,
  publish: local,
  network: local,
  memory: local,
  cpus: local,
  'no-sandbox': sandboxed,
  'permission-profile': local,
  'isolate-network': local,
  'allow-docker-gateway': gateway,
  'ignore-globally': local,
  'print-resolved-overlays': local,
  'image-verification': local,
  'accept-permissions': fromRegistry,
  'build-with': packages,
  'ca-cert': packages, // where packages are installed without an image it is said
  'allow-build-network': builtImages,
  'allow-build-host': builtImages,
  'runtime-image': builtImages,
  'runtime-add-package': builtImages,
}

/** What is known of a run config that is complete. */
export const situationOf = (
  config: RunConfig,
  known: Pick<Situation, 'argument' | 'contained'>,
): Situation => ({
  ...known,
  kind: config.remote_url ? 'remote' : /^(npx|uvx|go):\/\//.test(config.source ?? '') ? 'package' : 'image',
  fromRegistry: config.registry_server_name !== undefined,
  transport: config.transport,
  proxyMode: config.transport === 'stdio' ? (config.proxy_mode ?? 'streamable-http') : config.transport,
  isolated: config.isolate_network !== false,
})
