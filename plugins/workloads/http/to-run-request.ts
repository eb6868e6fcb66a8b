import type { Static } from 'typebox'
import type { App } from '../../../src/app.ts'
import type { FlagTable } from '../../../src/cli/flags.ts'
import type { PermissionProfile, RunConfig } from '../../../src/contracts/run-config.ts'
import { assertEnforced } from '../../../src/contracts/unenforced.ts'
import { failures as core } from '../../../src/errors.ts'
import { assertNotLowered } from '../../image-verification/index.ts'
import { type RunRequest, withDefaults } from '../build-config.ts'
import { failures } from '../failures.ts'
import { runFlags } from '../flags.ts'
import { isSameTarget, keptBesideFlags, unmentioned } from './keep-unmentioned.ts'
import type { createBody } from './schemas.ts'
import { toOptions } from './to-options.ts'

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
 * An edit keeps what its body does not mention.
 */
export async function toRunRequest(
  app: App,
  asked: Body,
  { signal, replaces }: { signal: AbortSignal; replaces?: RunConfig },
): Promise<RunRequest> {
  assertEnforced(asked)
  if (replaces) assertEnforced(replaces) // a body cannot say it, so it would be lost
  const carried: Body = replaces ? unmentioned(asked, replaces) : {}
  const body = { ...carried, ...asked }
  assertSupported(body)
  const argument = argumentOf(body, replaces)
  // An image may be called like a server: what is wanted from the registry must be in it.
  if (body.server) await (await app.service('registry')).get(body.server, { signal })
  const said = toOptions(body)
  const own = toOptions(asked)
  const options = withDefaults(await flagsOfRun(app), said)
  if (replaces) assertNotLowered(replaces, options['image-verification'])
  const profile = body.permission_profile as PermissionProfile | undefined
  return {
    argument,
    serverArgs: body.cmd_arguments ?? body.cmd_args ?? [],
    options,
    given: new Set([...Object.keys(said), ...(profile ? ['permission-profile'] : [])]),
    repeated: new Set([
      ...REPEATED,
      ...Object.keys(said).filter(name => !Object.hasOwn(own, name)),
      ...(carried.permission_profile ? ['permission-profile'] : []),
    ]),
    cwd: process.cwd(),
    debug: body.debug ?? false,
    signal,
    kept: {
      ...(body.remote_must_be_public ? { remote_must_be_public: true } : {}),
      ...(profile && body.permission_profile_name_or_path
        ? { permission_profile_name_or_path: body.permission_profile_name_or_path }
        : {}),
      ...(replaces ? keptBesideFlags(asked, replaces) : {}),
    },
    ...(profile ? { profile } : {}),
    ...(replaces ? { replaces } : {}),
  }
}

/** The details of every workload have a value for these, which clients send back with an edit. */
const REPEATED = new Set(['isolate-network', 'proxy-mode'])

/** All flags of `run`, those of other plugins among them. */
async function flagsOfRun(app: App): Promise<FlagTable> {
  const groups = (await app.contributions('flags')).filter(group => group.of.includes('run'))
  return Object.assign({}, runFlags, ...groups.map(group => group.flags))
}

/** Profiles that are no files: a path would be read on the server's machine. */
const PROFILES = new Set(['none', 'network', 'stdio'])

/** Nothing that was asked for is left out in silence. */
function assertSupported(body: Body): void {
  for (const member of UNSUPPORTED) {
    const value = body[member]
    if (!isEmpty(value)) throw failures.request_unsupported({ member })
  }
  if (!isEmpty(body.runtime_config?.runtime_env)) {
    throw failures.request_unsupported({ member: 'runtime_config.runtime_env' })
  }
  const { permission_profile: profile, permission_profile_name_or_path: name } = body
  if (!profile && name && !PROFILES.has(name)) {
    throw failures.request_unsupported({ member: 'A path in permission_profile_name_or_path' })
  }
}

/** As the details of a workload show what is not set. */
const isEmpty = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return value === undefined || value === ''
  return Object.values(value).every(isEmpty)
}

/**
 * The target: a remote server's URL, a server of the registry, or what `image` says. A package is named by
 * `source` where `image` is what was made of it.
 */
function argumentOf(body: Body, replaces: RunConfig | undefined): string {
  const { image, url, remote_url, registry, server } = body
  if (Boolean(registry) !== Boolean(server)) {
    throw core.usage({ text: 'registry and server go together: the one says where the other is found.' })
  }
  if (registry && registry !== 'default') {
    throw core.usage({
      text: `There is no registry "${registry}"; there is one, and it is called "default".`,
    })
  }
  const targets = new Set([image, url, remote_url, server].filter(target => target))
  const [target] = targets
  if (targets.size !== 1 || target === undefined) {
    throw core.usage({ text: 'A workload needs one of image, url, or registry and server.' })
  }
  for (const [member, value] of Object.entries({ url, remote_url })) {
    if (value && !/^https?:\/\//i.test(value)) {
      throw core.usage({ text: `${member} "${value}" must begin with http:// or https://.` })
    }
  }
  const source = replaces && isSameTarget(body, replaces) ? replaces.source : body.source
  return image && /^(npx|uvx|go):\/\//.test(source ?? '') ? (source ?? target) : target
}
