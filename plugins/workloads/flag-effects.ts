import type { ProxyMode, RunConfig, Transport } from '../../src/contracts/run-config.ts'

/** What is known about a run when its flags are checked. Facts that are not known yet are left out. */
export interface FlagContext {
  /** What was typed. */
  readonly argument: string
  /** What it turned out to be: an image, a package, or a server that runs elsewhere. */
  readonly kind?: 'image' | 'package' | 'remote' | undefined
  readonly fromRegistry: boolean
  readonly transport?: Transport | undefined
  /** How clients speak to the proxy. */
  readonly proxyMode?: ProxyMode | undefined
  /** Whether the runtime makes containers; known once the runtime is chosen. */
  readonly contained?: boolean | undefined
  /** Whether callers log in at a provider. */
  readonly hasLogin?: boolean | undefined
  /** Known once the runtime has been asked. */
  readonly isolated?: boolean | undefined
}

/** Says why a flag has no effect, as the end of "--flag does not go with …"; undefined when it has one. */
type FlagCheck = (context: FlagContext, value?: unknown) => string | undefined

const always: FlagCheck = () => undefined

const remote = ({ argument }: FlagContext): string =>
  `${nameOfRemote(argument)}: that server is run by somebody else.`

/** The URL itself, or the registry's name for it. */
export const nameOfRemote = (argument: string): string =>
  argument.includes('://') ? `the URL ${argument}` : `the remote server ${argument}`

const needsLocal: FlagCheck = s => (s.kind === 'remote' ? remote(s) : undefined)

/** The entry of a remote server may ask for variables: for its URL, or because it needs them. */
const needsLocalOrRegistry: FlagCheck = s => (s.fromRegistry ? undefined : needsLocal(s))

const needsPackage: FlagCheck = s =>
  s.kind === 'image' ? `the image ${s.argument}: it is for packages (npx://, uvx://, go://).` : needsLocal(s)

const needsImageBuild: FlagCheck = s =>
  needsPackage(s) ?? (s.contained === false ? 'a runtime that runs packages without an image.' : undefined)

const needsPort: FlagCheck = s =>
  needsLocal(s) ??
  (s.transport === 'stdio' ? '--transport stdio: such a server listens on no port.' : undefined)

const needsRemote: FlagCheck = s => {
  if (s.kind === undefined || s.kind === 'remote') return undefined
  return `the ${s.kind} ${s.argument}: it is for remote servers, such as https://example.com/mcp.`
}

/** Identity providers of callers are asked for local servers, too. */
const needsProvider: FlagCheck = s =>
  s.hasLogin || needsRemote(s) === undefined
    ? undefined
    : `the ${s.kind} ${s.argument}: it is for remote servers and for identity providers (--oidc-issuer).`

const needsSse: FlagCheck = s =>
  s.proxyMode !== undefined && s.proxyMode !== 'sse'
    ? `${s.proxyMode}: only SSE servers announce an endpoint.`
    : undefined

const needsStdio: FlagCheck = (s, mode) =>
  s.transport === undefined || s.transport === 'stdio' || s.transport === mode
    ? undefined
    : `--transport ${s.transport}: clients speak to such a server as it speaks itself.`

const needsOwnStdio: FlagCheck = s =>
  needsLocal(s) ??
  (s.transport === undefined || s.transport === 'stdio'
    ? undefined
    : `--transport ${s.transport}: such a server tells its clients apart itself.`)

const needsProcess: FlagCheck = s =>
  s.kind === 'image' ? `the image ${s.argument}: its container is the sandbox.` : needsLocal(s)

const needsHttp: FlagCheck = s =>
  s.transport === 'stdio' ? '--transport stdio: such a server gets no headers.' : undefined

const needsRegistry: FlagCheck = s =>
  needsLocal(s) ??
  (s.fromRegistry ? undefined : `${s.argument}: only an entry of a registry asks for permissions.`)

const needsGateway: FlagCheck = s => {
  if (s.kind === 'remote') return remote(s)
  if (s.contained === false) return 'a runtime without containers: there is no gateway.'
  if (s.isolated !== false) return undefined
  return 'a server that is not isolated: it reaches the gateway anyway, or has no network.'
}

/**
 * Every flag of `run`, and what it needs to have an effect. A test checks that every flag is listed.
 */
export const FLAG_EFFECTS: Readonly<Record<string, FlagCheck>> = {
  name: always,
  group: always,
  label: always,
  foreground: always,
  'from-config': always,
  transport: always,
  host: always,
  'proxy-port': always,
  'allowed-origins': always,
  tools: always,
  'tools-deny': always,
  'tools-read-only': always,
  'tools-override': always,
  'max-body-size': always,
  protocol: always,
  'session-ttl': always,
  sessions: needsOwnStdio,
  'max-processes': needsOwnStdio,
  'max-processes-per-caller': needsOwnStdio,
  'spare-processes': needsOwnStdio,
  'trust-proxy-headers': always,
  stateless: always, // its own check refuses every transport but one
  'proxy-mode': needsStdio,
  'endpoint-prefix': needsSse,
  'auth-server-upstream': always,
  'auth-server-config': always,
  'auth-server-client-id': always,
  'auth-server-client-secret-file': always,
  'auth-server-allow': always,
  'auth-server-issuer': always,
  'auth-server-storage': always,
  'auth-server-credential': always,
  'auth-server-allow-private-ip': always,
  'auth-server-upstream-token': needsHttp,
  'oidc-issuer': always,
  'oidc-audience': always,
  'oidc-allow': always,
  'oidc-jwks-url': always,
  'oidc-introspection-url': always,
  'oidc-client-id': always,
  'oidc-client-secret': always,
  'oidc-client-secret-file': always,
  'oidc-scopes': always,
  'oidc-access-tokens-only': always,
  'oidc-insecure-allow-http': always,
  'resource-url': always,
  'jwks-allow-private-ip': always,
  'jwks-auth-token-file': always,
  'audit-config': always,
  'authz-config': always,
  'enable-audit': always,
  'otel-endpoint': always,
  'otel-headers': always,
  'otel-headers-file': always,
  'otel-insecure': always,
  'otel-ca-cert': always,
  'otel-service-name': always,
  'otel-tracing-enabled': always,
  'otel-metrics-enabled': always,
  'otel-sampling-rate': always,
  'otel-custom-attributes': always,
  'otel-env-vars': always,
  'otel-use-legacy-attributes': always,
  'otel-enable-prometheus-metrics-path': always,
  'otel-prometheus-port': always,
  'webhook-config': always,
  'remote-auth': needsRemote,
  'remote-auth-issuer': needsRemote,
  'remote-auth-authorize-url': needsRemote,
  'remote-auth-token-url': needsRemote,
  'remote-auth-client-id': needsRemote,
  'remote-auth-client-secret': needsRemote,
  'remote-auth-client-secret-file': needsRemote,
  'remote-auth-grant-type': needsRemote,
  'remote-auth-private-key-file': needsRemote,
  'remote-auth-signing-algorithm': needsRemote,
  'remote-auth-scopes': needsRemote,
  'remote-auth-scope-param-name': needsRemote,
  'remote-auth-resource': needsRemote,
  'remote-auth-callback-port': needsRemote,
  'remote-auth-skip-browser': needsRemote,
  'remote-auth-timeout': needsRemote,
  'remote-auth-bearer-token': needsRemote,
  'remote-auth-bearer-token-file': needsRemote,
  'remote-forward-headers': needsRemote,
  'remote-forward-headers-secret': needsRemote,
  'token-exchange-url': needsHttp,
  'token-exchange-audience': needsHttp,
  'token-exchange-scopes': needsHttp,
  'token-exchange-client-id': needsHttp,
  'token-exchange-client-secret': needsHttp,
  'token-exchange-client-secret-file': needsHttp,
  'token-exchange-header-name': needsHttp,
  'token-exchange-subject-token-type': needsHttp,
  'token-exchange-actor-token-file': needsHttp,
  'rate-limit': always,
  'rate-limit-per-user': always,
  'rate-limit-redis': always,
  'max-concurrent-calls': always, // their own checks refuse servers with --transport sse
  'max-concurrent-calls-per-user': always,
  'call-timeout': always,
  'svc-ca-bundle': needsProvider,
  'target-host': needsPort,
  'target-port': needsPort,
  runtime: needsLocal,
  env: needsLocalOrRegistry,
  'env-file': needsLocalOrRegistry,
  'env-file-dir': needsLocal,
  secret: needsLocalOrRegistry,
  volume: needsLocal,
  publish: needsLocal,
  network: needsLocal,
  memory: needsLocal,
  cpus: needsLocal,
  'no-sandbox': needsProcess,
  'permission-profile': needsLocal,
  'isolate-network': needsLocal,
  'allow-docker-gateway': needsGateway,
  'ignore-globally': needsLocal,
  'print-resolved-overlays': needsLocal,
  'image-verification': needsLocal,
  'accept-permissions': needsRegistry,
  'build-with': needsPackage,
  'ca-cert': needsPackage, // ignored with a warning where packages are installed without an image
  'allow-build-network': needsImageBuild,
  'allow-build-host': needsImageBuild,
  'runtime-image': needsImageBuild,
  'runtime-add-package': needsImageBuild,
}

function kindOf({ remote_url, source = '' }: RunConfig): FlagContext['kind'] {
  if (remote_url) return 'remote'
  return /^(npx|uvx|go):\/\//.test(source) ? 'package' : 'image'
}

/** Describes a complete run config. */
export const contextOfConfig = (
  config: RunConfig,
  known: Pick<FlagContext, 'argument' | 'contained'>,
): FlagContext => ({
  ...known,
  kind: kindOf(config),
  fromRegistry: config.registry_server_name !== undefined,
  transport: config.transport,
  proxyMode: config.transport === 'stdio' ? (config.proxy_mode ?? 'streamable-http') : config.transport,
  isolated: config.isolate_network !== false,
})
