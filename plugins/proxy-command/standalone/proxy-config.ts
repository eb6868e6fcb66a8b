import type { App } from '../../../src/app.ts'
import type { FlagTable } from '../../../src/cli/flags.ts'
import { type RunConfig, SCHEMA_VERSION } from '../../../src/contracts/run-config.ts'
import type { RunOptions } from '../../../src/contracts/run-options.ts'
import type { Ask } from '../../../src/contracts/target.ts'
import { failures } from '../../../src/errors.ts'
import { checkSections } from '../../../src/sections.ts'
import { resolveHost } from '../../proxy/index.ts'

/** What `proxy` was asked for. */
export interface ProxyRequest {
  readonly name: string
  readonly target: string
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly allowedOrigins: readonly string[]
  /** The flags of other plugins, with their defaults. */
  readonly options: RunOptions
  readonly given: ReadonlySet<string>
  /** Whether credentials of the environment are for the target. */
  readonly readsEnvironment: boolean
  readonly signal: AbortSignal
  /** Tells the person something, e.g. where to log in. */
  readonly say: (text: string) => void
  /** Asks the person at the terminal. */
  readonly ask: Ask
}

/** The run config of a proxy without a workload. It is written nowhere. */
export async function toProxyConfig(app: App, request: ProxyRequest): Promise<RunConfig> {
  const target = parseTarget(request.target)
  const hasPath = target.pathname !== '/'
  const config: RunConfig = {
    schema_version: SCHEMA_VERSION,
    name: request.name,
    remote_url: target.href,
    transport: /\/sse\/?$/.test(target.pathname) ? 'sse' : 'streamable-http',
    host: await resolveHost(request.host ?? '127.0.0.1'),
    port: request.port ?? 0,
    ...(hasPath ? {} : { remote_keeps_paths: true }),
    ...(request.allowedOrigins.length ? { allowed_origins: [...request.allowedOrigins] } : {}),
  }
  for (const group of await app.contributions('flags')) {
    if (!group.of.includes('proxy')) continue
    await group.apply?.(withDefaults(group.flags, request.options), config, request.given, app.log.warn)
  }
  await checkSections(app, config)
  return complete(app, config, request)
}

/** What plugins add, e.g. credentials of the environment. */
async function complete(
  app: App,
  config: RunConfig,
  { options, readsEnvironment: typed, signal, say, ask }: ProxyRequest,
): Promise<RunConfig> {
  let completed = config
  for (const make of await app.contributions('preparations')) {
    const context = { options, typed, foreground: true, signal, say, report: say, ask }
    completed = (await make(app).complete?.(completed, context)) ?? completed
  }
  return completed
}

function withDefaults(table: FlagTable, options: RunOptions): RunOptions {
  const defaults = Object.entries(table).map(([name, flag]) => [name, flag.fallback])
  return { ...Object.fromEntries(defaults), ...options }
}

function parseTarget(text: string): URL {
  const url = URL.parse(text)
  const wrong = (problem: string) => failures.usage({ text: `--target-uri ${problem}` })
  if (!url || !/^https?:$/.test(url.protocol)) throw wrong(`takes an http or https URL, not "${text}".`)
  if (url.username || url.password) {
    throw wrong('holds a user name or password, which others on this machine could read.')
  }
  if (url.hash) throw wrong('has a fragment, which no server gets to see.')
  return url
}
