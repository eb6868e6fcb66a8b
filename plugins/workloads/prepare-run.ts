import type { App } from '../../src/app.ts'
import { toMounts } from '../../src/contracts/mounts.ts'
import { instanceName, type RunConfig } from '../../src/contracts/run-config.ts'
import type { RunOptions } from '../../src/contracts/run-options.ts'
import type { Runtime } from '../../src/contracts/runtime.ts'
import type { ResolveContext } from '../../src/contracts/target.ts'
import { readEnvFolder } from '../../src/env-files.ts'
import { parseCpus, parseMemory } from '../../src/lib/resources.ts'
import { takeOverEntries } from '../../src/middleware-entries.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { checkSections } from '../../src/sections.ts'
import { settleIsolation } from '../egress/index.ts'
import { assertPortFree } from '../proxy/index.ts'
import { parsePackageArgument } from '../recipes/index.ts'
import { assertWorkloadName, stateFailures, type WorkloadStore } from '../state/index.ts'
import { assertFits } from './assert-fits.ts'
import { configFromOptions, findTarget, type RunRequest, runtimeOnce } from './build-config.ts'
import { choosePublished } from './choose-published.ts'
import { failures } from './failures.ts'
import { contextOfConfig } from './flag-effects.ts'
import { findUntakenPort, portsOfOthers } from './free-ports.ts'
import { configFromFile } from './from-config.ts'
import { mergeResolved } from './merge-resolved.ts'
import { assertMountable } from './parse-mount-flags.ts'
import { fetchImage } from './targets/fetch-image.ts'
import { schemeTarget } from './targets/scheme.ts'
import { verifyGiven } from './targets/verify-given.ts'

const LOOPBACK = '127.0.0.1'

/** The kind of each target before it is resolved. What a registry name stands for is known afterwards. */
const KINDS = { image: 'image', scheme: 'package', remote: 'remote', registry: undefined } as const

/**
 * Makes the run config of a new workload: checks all that the user wrote, then pulls, builds or
 * installs what will run. Saves nothing; a failure leaves nothing behind but cached images.
 */
export async function prepareRun(app: App, store: WorkloadStore, request: RunRequest): Promise<RunConfig> {
  const file = request.options['from-config']
  const config = file
    ? await fromConfig(app, store, request, await configFromFile(app, file, request))
    : request.whole
      ? await fromWhole(app, store, request, request.whole)
      : await fromTarget(app, store, request)
  await warnOfMissingProtection(app, config)
  if (config.ignore_config?.printOverlays && !config.remote_url) await printOverlays(app, config, request)
  const placed = await choosePublished(await withPorts(config, store), store, request)
  return complete(app, placed, request)
}

/** Starts the supervisor, unless one runs, while the rest is prepared. Who needs it later waits for it, or hears why not. */
function startSupervisor(app: App): void {
  app
    .service('supervisor')
    .then(supervisor => supervisor.ensure())
    .catch(() => undefined)
}

/** Lets plugins complete the run config, one after another. */
async function complete(app: App, prepared: RunConfig, request: RunRequest): Promise<RunConfig> {
  const { options, typed = false, ask, say, signal, report } = request
  const context = { options, typed, foreground: options.foreground === true, ask, say, signal, report }
  let config = prepared
  for (const make of await app.contributions('preparations')) {
    config = (await make(app).complete?.(config, context)) ?? config
  }
  return config
}

/** Warns about a missing login or sandbox, and about limits that are not enforced. */
async function warnOfMissingProtection(app: App, config: RunConfig): Promise<void> {
  const { name, runtime, no_sandbox, resources, host = LOOPBACK } = config
  if (!isLoopback(host) && !(await (await app.find('callerAuths'))?.isRequired(config))) {
    app.log.warn(`Whoever reaches ${host} may use "${name}": nobody has to log in (--oidc-issuer).`)
  }
  if (no_sandbox) {
    app.log.warn(`"${name}" runs without a sandbox: it can read, change and reach everything that you can.`)
  }
  if (!resources || !runtime) return
  const { memory = '', cpus = '' } = resources
  const [bytes, cores] = [parseMemory(memory), parseCpus(cpus)]
  const limits = { ...(bytes ? { memory: bytes } : {}), ...(cores ? { cpus: cores } : {}) }
  const lacking = await (await (await app.service('runtimes')).get(runtime)).missingLimits?.(limits)
  if (lacking) app.log.warn(`Limits of "${name}": ${lacking}`)
}

/** Says which paths inside the container will be hidden, as the mounted folders are now. */
async function printOverlays(app: App, config: RunConfig, { report }: RunRequest): Promise<void> {
  const hidden = await (await app.service('hiddenFiles')).find(config, toMounts(config, app.log))
  for (const { target, directory } of hidden) report?.(`Hidden: ${target}${directory ? '/' : ''}`)
  if (hidden.length === 0) report?.('Hidden: nothing')
}

async function fromTarget(app: App, store: WorkloadStore, request: RunRequest): Promise<RunConfig> {
  const target = await findTarget(app, request.argument)
  const transport = request.options.transport ?? target.defaultTransport
  assertFits(
    {
      argument: request.argument,
      kind: KINDS[target.kind],
      fromRegistry: target.kind === 'registry' || request.kept?.registry_server_name !== undefined,
      transport,
      proxyMode: transport === 'stdio' ? request.options['proxy-mode'] : transport,
    },
    request,
  )
  const name = request.options.name ?? target.defaultName(request.argument)
  const asked = await configFromOptions(app, request, name)
  await assertCanRun(app, store, asked, request)
  if (transport) await checkSections(app, { ...asked, transport })

  const runtime = runtimeOnce(app, request.options.runtime, { noSandbox: asked.no_sandbox })
  const resolved = await target.resolve(request.argument, contextOf(request, asked, runtime))
  if (!request.options.foreground) startSupervisor(app)
  const others = (await store.configs.list()).filter(other => other.name !== asked.name)
  const config = await mergeResolved(resolved, asked, {
    given: request.given,
    taken: new Set(others.map(({ port }) => port)),
    sections: await app.contributions('sections'),
  })
  if (!config.remote_url) config.runtime = (await runtime()).name
  await checkSections(app, config)
  const contained = config.remote_url ? undefined : (await runtime()).images !== undefined
  assertFits(contextOfConfig(config, { argument: request.argument, contained }), request)
  warnIfNothingToVerify(app, config, request)
  if (config.remote_url) return config
  const isExplicit = request.given.has('isolate-network')
  const { signal, report } = request
  return settleIsolation(config, {
    runtime: await runtime(),
    isExplicit,
    warn: app.log.warn,
    wait: { signal, report },
  })
}

/** Warns when --image-verification has nothing to check: a package, or an image that no registry entry names. */
function warnIfNothingToVerify(app: App, config: RunConfig, { given, repeated, options }: RunRequest): void {
  if (!given.has('image-verification') || repeated?.has('image-verification')) return
  if (options['image-verification'] === 'disabled') return
  if (config.registry_server_name && config.image_verification) return
  app.log.warn(
    `--image-verification has no effect: nothing says who must have signed ${config.source ?? config.image}.`,
  )
}

async function fromWhole(
  app: App,
  store: WorkloadStore,
  request: RunRequest,
  whole: RunConfig,
): Promise<RunConfig> {
  const config = await takeOverEntries(app, whole)
  await checkSections(app, config)
  return fromConfig(app, store, request, config)
}

async function fromConfig(
  app: App,
  store: WorkloadStore,
  request: RunRequest,
  config: RunConfig,
): Promise<RunConfig> {
  const argument = request.options['from-config'] ?? config.source ?? config.remote_url ?? config.image ?? ''
  await assertCanRun(app, store, config, request)
  assertFits(contextOfConfig(config, { argument, contained: undefined }), request)
  if (config.remote_url) return config
  await assertPaths(app, config)
  const noSandbox = config.no_sandbox
  const runtime = await runtimeOnce(app, request.options.runtime ?? config.runtime, { noSandbox })()
  const { signal, report, given } = request
  const settled = await settleIsolation(config, {
    runtime,
    isExplicit: given.has('isolate-network'),
    warn: app.log.warn,
    wait: { signal, report },
  })
  return { ...settled, ...(await imageOf(app, config, request, runtime)), runtime: runtime.name }
}

/** What an exported run config needs on this host: its package built or installed, or its image pulled. */
async function imageOf(
  app: App,
  config: RunConfig,
  request: RunRequest,
  runtime: Runtime,
): Promise<Partial<RunConfig>> {
  const { source, image, runtime_config: build } = config
  const target = schemeTarget(app)
  const buildWith = build?.build_with ?? []
  const wanted = source ? parsePackageArgument(source, { cwd: process.cwd(), buildWith }) : undefined
  if (source && wanted) {
    const recipe = { runtimeImage: build?.builder_image, addPackages: build?.additional_packages, runtime }
    const plain = request.options['ca-cert'] === undefined
    if (plain && image && (await (await app.service('recipes')).isBuilt(image, wanted, recipe))) return {}
    const options: RunOptions = {
      ...request.options,
      'runtime-image': build?.builder_image,
      'runtime-add-package': build?.additional_packages ?? [],
      'build-with': buildWith,
    }
    const resolved = await target.resolve(source, {
      ...contextOf(request, config, async () => runtime),
      options,
    })
    return resolved.image ? { image: resolved.image } : {}
  }
  if (!runtime.images || !image) return {}
  const options: RunOptions = { ...request.options, 'image-verification': config.image_verification }
  const verified = await verifyGiven(app, image, {
    ...contextOf(request, config, async () => runtime),
    options,
  })
  await fetchImage(runtime.images, verified.image, request)
  return verified
}

const contextOf = (
  request: RunRequest,
  asked: RunConfig,
  runtime: () => Promise<Runtime>,
): ResolveContext => ({
  options: request.options,
  asked,
  before: request.replaces ?? (request.options['from-config'] ? asked : undefined),
  ownProfile: request.given.has('permission-profile'),
  ownSource: request.ownSource,
  ownBaseImage: request.typed === true && request.given.has('runtime-image'),
  ask: request.ask,
  runtime,
  signal: request.signal,
  report: request.report,
})

/** Everything that can be refused before anything is fetched. */
async function assertCanRun(
  app: App,
  store: WorkloadStore,
  config: RunConfig,
  request: RunRequest,
): Promise<void> {
  const { replaces } = request
  assertWorkloadName(config.name)
  const taken = replaces ? undefined : await store.configs.find(config.name)
  if (taken && (await store.statuses.read(config.name))?.status !== 'error') {
    throw stateFailures.workload_exists({ name: config.name })
  }
  // An upgrade gives a server a name of its own, which may be what somebody else calls a workload.
  const name = instanceName(config)
  const owner = (await store.configs.list()).find(
    other => other.name !== config.name && instanceName(other) === name,
  )
  if (owner) throw failures.instance_name_taken({ name, owner: owner.name })
  await assertReferences(app, config, request)
  const place = ({ host = LOOPBACK, port }: RunConfig) => `${host}:${port}`
  const isOwn = replaces !== undefined && place(config) === place(replaces) // its own proxy has it
  if (config.port && !isOwn) await assertPortFree(config.host ?? LOOPBACK, config.port)
}

/** Paths of a run config must be absolute, and those that are read at the start must exist. */
async function assertPaths(app: App, config: RunConfig): Promise<void> {
  for (const { source } of toMounts(config, app.log)) await assertMountable(source)
  if (config.env_file_dir) await readEnvFolder(config.env_file_dir, app.log)
}

/** What the run config only names must be there: its group, and all of its secrets. */
async function assertReferences(
  app: App,
  { group = 'default', secrets = [] }: RunConfig,
  { ask, say = app.log.info, options }: RunRequest,
): Promise<void> {
  if (group !== 'default') await (await app.service('groups')).assertExists(group)
  if (secrets.length === 0) return
  const service = await app.service('secrets')
  if (ask) await service.resolveWith(secrets, { ask, say, background: !options.foreground })
  else await service.resolve(secrets)
}

/** Gives the proxy, and a server that listens, a port each unless they have one. */
async function withPorts(config: RunConfig, store: WorkloadStore): Promise<RunConfig> {
  const taken = await portsOfOthers(store, config.name)
  const port = config.port || (await findUntakenPort(taken, config.host ?? LOOPBACK))
  if (config.transport === 'stdio' || config.remote_url) return { ...config, port }
  return { ...config, port, target_port: config.target_port ?? (await findUntakenPort(taken.add(port))) }
}
