import type { App } from '../../../src/app.ts'
import { type FlagTable, flagsOfGroups } from '../../../src/cli/flags.ts'
import type { RunConfig, Transport } from '../../../src/contracts/run-config.ts'
import { assertEnforced } from '../../../src/contracts/unenforced.ts'
import { failures as core } from '../../../src/errors.ts'
import { httpFailures } from '../../../src/http/failures.ts'
import { assertUnset, type SectionRequest, sectionRequests } from '../../../src/http/section-request.ts'
import { takeOverEntries } from '../../../src/middleware-entries.ts'
import { assertNotLowered } from '../../image-verification/index.ts'
import { findTarget, type RunRequest, withDefaults } from '../build-config.ts'
import { runFlags } from '../flags.ts'
import { isSameTarget, keptBesideFlags, unmentioned } from './keep-unmentioned.ts'
import { type CreateBody, unsupported } from './schemas.ts'
import { withoutShown } from './shown-profile.ts'
import { toOptions } from './to-options.ts'

/**
 * Turns the body of a request into what `run` is given, so that both follow the same rules. An edit keeps the
 * members that its body does not have.
 */
export async function toRunRequest(
  app: App,
  sent: CreateBody,
  { signal, replaces }: { signal: AbortSignal; replaces?: RunConfig },
): Promise<RunRequest> {
  const requests = await sectionRequests(app)
  const asked = withoutShown(await takeOverEntries(app, sent), replaces)
  const members = new Set(requests.flatMap(request => Object.keys(request.body)))
  assertEnforced(asked, members)
  if (replaces) assertEnforced(replaces, keptOf(requests)) // other members would be lost
  const unchanged: CreateBody = replaces ? unmentioned(asked, replaces, requests) : {}
  const body = { ...unchanged, ...asked }
  assertSupported(body, members)
  const targets = targetsOf(body, replaces)
  // An image may have the name of a server, so the registry has to have the server that the body names.
  if (body.server) await (await app.service('registry')).get(body.server, { signal })
  const given = toOptions(body, requests)
  const own = toOptions(asked, requests)
  const options = {
    ...withDefaults(await flagsOfRun(app), given),
    transport: given.transport ?? (await defaultTransport(app, targets.argument)),
  }
  if (replaces) assertNotLowered(replaces, options['image-verification'])
  const profile = body.permission_profile
  const beside = replaces ? keptBesideFlags(asked, replaces, requests) : {}
  return {
    ...targets,
    serverArgs: body.cmd_arguments ?? body.cmd_args ?? [],
    options,
    given: new Set([...Object.keys(given), ...(profile ? ['permission-profile'] : [])]),
    repeated: new Set([
      ...REPEATED,
      ...Object.keys(given).filter(name => !Object.hasOwn(own, name)),
      ...(unchanged.permission_profile ? ['permission-profile'] : []),
    ]),
    cwd: process.cwd(),
    debug: body.debug ?? false,
    signal,
    kept: {
      ...(profile && body.permission_profile_name_or_path
        ? { permission_profile_name_or_path: body.permission_profile_name_or_path }
        : {}),
      ...beside,
      ...Object.assign({}, ...requests.map(request => request.toMembers?.(body, beside))),
    },
    ...(profile ? { profile } : {}),
    ...(replaces ? { replaces } : {}),
  }
}

/** The options that the details of every workload have, which clients send back with an edit. */
const REPEATED = new Set(['isolate-network', 'proxy-mode'])

/** All flags of `run`, those of other plugins among them. */
async function flagsOfRun(app: App): Promise<FlagTable> {
  const groups = (await app.contributions('flags')).filter(group => group.of.includes('run'))
  return { ...runFlags, ...flagsOfGroups(groups) }
}

/** A plain image speaks over standard input and output unless the body says otherwise, as in ToolHive. */
const defaultTransport = async (app: App, argument: string): Promise<Transport | undefined> =>
  (await findTarget(app, argument)).kind === 'image' ? 'stdio' : undefined

/** The built-in profiles. A path is refused, because it would be a file of this machine. */
const PROFILES = new Set(['none', 'network', 'stdio'])

/** Refuses members that have no effect, instead of ignoring them silently. */
function assertSupported(body: CreateBody, members: ReadonlySet<string>): void {
  const names = Object.keys(unsupported) as (keyof typeof unsupported)[]
  for (const name of names) if (!members.has(name)) assertUnset({ [name]: body[name] })
  const { permission_profile: profile, permission_profile_name_or_path: name } = body
  if (!profile && name && !PROFILES.has(name)) {
    throw httpFailures.request_unsupported({ member: 'A path in permission_profile_name_or_path' })
  }
}

/** The members of sections that an edit keeps. */
const keptOf = (requests: readonly SectionRequest[]): ReadonlySet<string> =>
  new Set(
    requests.flatMap(({ kept = [], keptAlways = [], keptWithTarget = [] }) => [
      ...kept,
      ...keptAlways,
      ...keptWithTarget,
    ]),
  )

/**
 * The target: the URL of a remote server, a server of the registry, or `image`. Where `image` was built from a
 * package, `source` names the package. Beside a server of the registry, an image or URL runs in place of its own.
 */
function targetsOf(
  body: CreateBody,
  replaces: RunConfig | undefined,
): Pick<RunRequest, 'argument' | 'ownSource'> {
  const { image, url, remote_url, registry, server } = body
  if (Boolean(registry) !== Boolean(server)) {
    throw core.usage({ text: 'registry and server go together: the one says where the other is found.' })
  }
  const sources = new Set([image, url, remote_url].filter(source => source))
  const [given] = sources
  const argument = server || given
  if (sources.size > 1 || !argument) {
    throw core.usage({
      text: 'A workload needs one of image and url, or registry and server, or both.',
    })
  }
  const source = replaces && isSameTarget(body, replaces) ? replaces.source : body.source
  const own = image && /^(npx|uvx|go):\/\//.test(source ?? '') ? source : given
  return server && own ? { argument: server, ownSource: own } : { argument: own ?? argument }
}
