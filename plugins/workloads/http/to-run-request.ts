import type { Static } from 'typebox'
import type { App } from '../../../src/app.ts'
import type { FlagTable, FlagValues } from '../../../src/cli/flags.ts'
import {
  type PermissionProfile,
  PROXY_MODES,
  type RunConfig,
  TRANSPORTS,
} from '../../../src/contracts/run-config.ts'
import { assertEnforced } from '../../../src/contracts/unenforced.ts'
import { failures as core } from '../../../src/errors.ts'
import type { RunRequest } from '../build-config.ts'
import { failures } from '../failures.ts'
import { runFlags } from '../flags.ts'
import type { createBody } from './schemas.ts'

type Body = Static<typeof createBody>

const UNSUPPORTED = [
  'authz_config',
  'oidc',
  'tools',
  'tools_override',
  'oauth_config',
  'headers',
  'header_forward',
] as const

/**
 * What the body of a request asks for, as `run` would be asked for it: one set of rules for both.
 * Empty texts, lists and zeroes count as not given, as clients made by generators send them.
 */
export async function toRunRequest(
  app: App,
  body: Body,
  options: { signal: AbortSignal; replaces?: RunConfig },
): Promise<RunRequest> {
  assertSupported(body)
  assertEnforced(body)
  if (options.replaces) assertEnforced(options.replaces) // a body cannot say it, so it would be lost
  const argument = argumentOf(body)
  // An image may be called like a server: what is wanted from the registry must be in it.
  if (body.server) await (await app.service('registry')).get(body.server, { signal: options.signal })
  const build = body.runtime_config ?? {}
  const given: Record<string, unknown> = {
    name: body.name,
    group: body.group,
    transport: oneOf(body.transport, TRANSPORTS, 'transport'),
    'proxy-mode': oneOf(body.proxy_mode, PROXY_MODES, 'proxy_mode'),
    host: body.host,
    'proxy-port': body.proxy_port,
    'target-port': body.target_port,
    env: Object.entries(body.env_vars ?? {}).map(([name, value]) => `${name}=${value}`),
    secret: (body.secrets ?? []).map(({ name, target }) => `${name},target=${target}`),
    volume: body.volumes,
    'isolate-network': body.network_isolation,
    'allow-docker-gateway': body.allow_docker_gateway || undefined,
    'no-sandbox': body.no_sandbox || undefined,
    'trust-proxy-headers': body.trust_proxy_headers || undefined,
    'accept-permissions': body.accept_permissions,
    'runtime-image': build.builder_image,
    'runtime-add-package': build.additional_packages,
    'build-with': build.build_with,
    runtime: options.replaces?.runtime,
  }
  const said = Object.entries(given).filter(([, value]) => isSaid(value))
  const kept = options.replaces?.image_verification
  const values = await allValues(app, {
    ...Object.fromEntries(said),
    ...(kept ? { 'image-verification': kept } : {}),
  })
  const profile = body.permission_profile as PermissionProfile | undefined
  return {
    argument,
    serverArgs: body.cmd_arguments ?? [],
    flags: values as FlagValues<typeof runFlags>,
    values,
    given: new Set([...said.map(([name]) => name), ...(profile ? ['permission-profile'] : [])]),
    repeated: REPEATED,
    cwd: process.cwd(),
    debug: false,
    signal: options.signal,
    ...(profile ? { profile } : {}),
    ...(options.replaces ? { replaces: options.replaces } : {}),
  }
}

/** The details of every workload have a value for these, which clients send back with an edit. */
const REPEATED = new Set(['isolate-network', 'proxy-mode'])

/** Values of all flags of `run`, other plugins' among them: what was said, else the flag's default. */
async function allValues(app: App, said: Record<string, unknown>): Promise<FlagValues<FlagTable>> {
  const groups = (await app.contributions('flags')).filter(group => group.of.includes('run'))
  const table: FlagTable = Object.assign({}, runFlags, ...groups.map(group => group.flags))
  const presets = Object.entries(table).map(([name, flag]) => [name, flag.fallback])
  return { ...Object.fromEntries(presets), ...said }
}

/** Nothing that was asked for is left out in silence. */
function assertSupported(body: Body): void {
  for (const member of UNSUPPORTED) {
    const value = body[member]
    if (!isEmpty(value)) throw failures.request_unsupported({ member })
  }
  if (!isEmpty(body.runtime_config?.runtime_env)) {
    throw failures.request_unsupported({ member: 'runtime_config.runtime_env' })
  }
}

/** As the details of a workload show what is not set. */
const isEmpty = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return value === undefined || value === ''
  return Object.values(value).every(isEmpty)
}

const isSaid = (value: unknown): boolean =>
  value !== undefined && value !== '' && value !== 0 && !(Array.isArray(value) && value.length === 0)

/** The target: a remote server's URL, a server of the registry, or what `image` says. */
function argumentOf({ image, url, registry, server }: Body): string {
  if (Boolean(registry) !== Boolean(server)) {
    throw core.usage({ text: 'registry and server go together: the one says where the other is found.' })
  }
  if (registry && registry !== 'default') {
    throw core.usage({
      text: `There is no registry "${registry}"; there is one, and it is called "default".`,
    })
  }
  const targets = [image, url, server].filter(Boolean)
  const [target] = targets
  if (targets.length !== 1 || target === undefined) {
    throw core.usage({ text: 'A workload needs one of image, url, or registry and server.' })
  }
  if (url && !/^https?:\/\//i.test(url)) {
    throw core.usage({ text: `url "${url}" must begin with http:// or https://.` })
  }
  return target
}

function oneOf<const C extends readonly string[]>(
  text: string | undefined,
  choices: C,
  member: string,
): C[number] | undefined {
  if (text === undefined || text === '' || choices.includes(text)) return text || undefined
  throw core.usage({ text: `${member} is one of ${choices.join(', ')}, not "${text}".` })
}
