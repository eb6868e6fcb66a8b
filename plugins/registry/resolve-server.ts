import type { App } from '../../src/app.ts'
import { TRANSPORTS } from '../../src/contracts/run-config.ts'
import type { ResolveContext, Resolved, Target } from '../../src/contracts/target.ts'
import { parseVariables } from '../../src/env-files.ts'
import { clean } from '../../src/lib/printable.ts'
import { acceptPermissions } from './accept-permissions.ts'
import { assertKnownTransport } from './assert-known-transport.ts'
import { collectHeaders } from './collect-headers.ts'
import { collectLogin } from './collect-login.ts'
import { collectVariables } from './collect-variables.ts'
import {
  assertPublicImage,
  assertPublicRemote,
  isPublicRegistry,
  type RegistryPlace,
} from './entry-places.ts'
import { failures } from './failures.ts'
import { type ImageServer, isRemote, type RemoteServer } from './formats/legacy.ts'
import { choosePackage, foreignRegistry, isRunnable } from './formats/package-image.ts'
import type { ServerJson } from './formats/server-json.ts'
import { toView } from './formats/to-view.ts'
import { ownSourceOf, withSource } from './own-source.ts'
import { fillUrl } from './url-variables.ts'
import { verifiedImage } from './verified-image.ts'
import { withheldArguments } from './withheld-arguments.ts'

/** Turns a registry entry into a run config: checks what the entry asks for, then resolves what it names. */
export async function resolveServer(app: App, argument: string, given: ResolveContext): Promise<Resolved> {
  const registry = await app.service('registry')
  const server = await registry.get(argument)
  const listed = toView(server)
  const context = { ...given, ownSource: ownSourceOf(server.name, listed, given) }
  const view = withSource(listed, context.ownSource)
  const from = await registry.source()
  const { kind, place } = from
  assertKnownTransport(server.name, view, context)
  const permitted = isRemote(view) ? {} : await acceptPermissions(app, server.name, view, context)
  const found = {
    registry_server_name: server.name,
    registry_env_vars: (view.env_vars ?? []).map(({ name }) => name),
    ...(kind === 'api' ? { registry_api_url: place } : {}),
    ...(kind === 'url' ? { registry_url: place } : {}),
    registry_source: place,
  }
  const origin = { registry: place, server: server.name }
  const { env_vars, secrets } = await collectVariables(app, origin, view.env_vars ?? [], context)
  const ports =
    view.proxy_port && view.proxy_port >= 1024 && (isRemote(view) || view.transport !== 'stdio')
      ? { port: view.proxy_port }
      : {}
  const common = {
    ...found,
    ...permitted,
    ...ports,
    env_vars,
    ...(secrets.length ? { secrets } : {}),
    ...(view.stateless ? { stateless: true } : {}),
  }
  if (isRemote(view)) return { ...common, ...(await resolveRemote(app, server, view, from, context)) }
  return { ...common, ...(await resolveImage(app, server, view, from, context)) }
}

/** Hands the work to the target that knows images, packages or URLs; the entry's transport is the default. */
async function resolveAs(
  app: App,
  kind: Target['kind'],
  reference: string,
  transport: string | undefined,
  context: ResolveContext,
): Promise<Resolved> {
  const targets = (await app.contributions('targets')).map(make => make(app))
  for (const target of targets.filter(candidate => candidate.kind === kind)) {
    if (!(await target.accepts(reference))) continue
    const known = TRANSPORTS.find(candidate => candidate === transport)
    const options = { ...context.options, transport: context.options.transport ?? known }
    return target.resolve(reference, { ...context, options })
  }
  throw failures.server_not_runnable({ name: reference, kinds: [kind] })
}

async function resolveImage(
  app: App,
  server: ServerJson,
  view: ImageServer,
  from: RegistryPlace,
  context: ResolveContext,
): Promise<Resolved> {
  if (context.ownSource === undefined) await assertRunnable(server, view, from)
  const withheld = withheldArguments(server)
  if (withheld.length) {
    app.log.warn(
      `"${clean(server.name)}" asks for engine arguments, which are not passed on: ${withheld.join(', ')}. If the server needs them, pass them yourself, for example with --volume.`,
    )
  }
  const isPackage = /^(npx|uvx|go):\/\//.test(view.image)
  const resolved = isPackage
    ? await resolveAs(app, 'scheme', view.image, view.transport, context)
    : context.ownSource === undefined
      ? await resolveVerified(app, view, context)
      : await resolveAs(app, 'image', view.image, view.transport, context)
  return {
    ...resolved,
    ...(view.target_port && resolved.transport !== 'stdio' ? { target_port: view.target_port } : {}),
    ...(view.args?.length ? { cmd_args: [...view.args] } : {}),
  }
}

/** Refuses an entry without a package that can run here, and one whose package may be somebody else's. */
async function assertRunnable(server: ServerJson, view: ImageServer, from: RegistryPlace): Promise<void> {
  const packages = server.packages ?? []
  if (!packages.some(isRunnable)) {
    throw failures.server_not_runnable({ name: server.name, kinds: packages.map(one => one.registryType) })
  }
  const chosen = choosePackage(packages)
  const elsewhere = chosen && foreignRegistry(chosen)
  if (elsewhere) {
    // Somebody else may have the name in the registry that would be asked.
    const problems = [`${clean(elsewhere)}: its package is in a registry that is not used here`]
    throw failures.entry_refused({ server: clean(server.name), problems })
  }
  await assertPublicImage(server.name, view.image, from)
}

/** The source stays the entry's reference, whose tag tells how old it is; what runs is what was verified. */
async function resolveVerified(app: App, view: ImageServer, context: ResolveContext): Promise<Resolved> {
  const { image, ...kept } = await verifiedImage(app, view, context)
  const options = { ...context.options, 'image-verification': undefined }
  const verified = { ...context, options, before: undefined }
  const resolved = await resolveAs(app, 'image', image, view.transport, verified)
  return { ...resolved, ...kept, source: view.image }
}

async function resolveRemote(
  app: App,
  server: ServerJson,
  view: RemoteServer,
  from: RegistryPlace,
  context: ResolveContext,
): Promise<Resolved> {
  const given = parseVariables(context.options.env ?? [])
  const origin = { registry: from.place, server: server.name }
  const { url, sent } = fillUrl(origin, { ...server.remotes?.[0], url: view.url }, given)
  const isOwn = context.ownSource !== undefined
  if (!isOwn) await assertPublicRemote(server.name, url, from)
  if (sent.length) app.log.info(`The URL of "${server.name}" contains your ${sent.join(', ')}.`)
  const resolved = await resolveAs(app, 'remote', url, view.transport, context)
  const header_forward = await collectHeaders(app, origin, view.headers ?? [], context)
  const { name } = server
  const login = await collectLogin(app, { name, url, oauth_config: view.oauth_config }, from, context)
  return {
    ...resolved,
    ...(header_forward ? { header_forward } : {}),
    ...(login ? { remote_auth_config: login } : {}),
    ...(!isOwn && (await isPublicRegistry(from)) ? { remote_must_be_public: true } : {}),
  }
}
