import type { App } from '../../src/app.ts'
import type { FlagTable } from '../../src/cli/flags.ts'
import {
  type PermissionProfile,
  type RunConfig,
  SCHEMA_VERSION,
  toInstanceName,
} from '../../src/contracts/run-config.ts'
import type { RunOptions } from '../../src/contracts/run-options.ts'
import type { Runtime, WaitOptions } from '../../src/contracts/runtime.ts'
import { type Ask, TARGET_ORDER, type Target } from '../../src/contracts/target.ts'
import { findEnvFolder, parseVariables, readEnvFile } from '../../src/env-files.ts'
import { failures as core } from '../../src/errors.ts'
import { parseLabel } from '../../src/lib/labels.ts'
import { parseCpus, parseMemory } from '../../src/lib/resources.ts'
import type { Wanted } from '../runtimes/index.ts'
import { failures } from './failures.ts'
import { parsePublish, parseVolumes } from './parse-mount-flags.ts'
import { absoluteProfile, readProfile } from './profile-flag.ts'

/** All that `run` is given, by a command line, a request over HTTP or an upgrade. */
export interface RunRequest extends WaitOptions {
  /** The target as typed. */
  readonly argument: string
  /** If `argument` is a server of the registry: what runs in place of the source that its entry names. */
  readonly ownSource?: string
  /** The arguments of the server, which follow `--`. */
  readonly serverArgs: readonly string[]
  readonly options: RunOptions
  /** Names of the options that the user gave; the others have their default or are absent. */
  readonly given: ReadonlySet<string>
  /** Whether the options come from a command line, and not from a request over HTTP. */
  readonly typed?: boolean
  /** The given options that a client only sends back as it has read them. They may be without effect. */
  readonly repeated?: ReadonlySet<string>
  readonly cwd: string
  readonly debug: boolean
  /** A permission profile by its content, instead of by `--permission-profile`. */
  readonly profile?: PermissionProfile
  /** Members of the run config that no flag sets. */
  readonly kept?: Partial<RunConfig>
  /** A complete run config, instead of a target or a file. */
  readonly whole?: RunConfig
  /** The run config that the new one replaces. */
  readonly replaces?: RunConfig
  /** Asks the user at the terminal; undefined when there is no terminal. */
  readonly ask?: Ask | undefined
  /** Tells the user something that stays on the terminal. */
  readonly say?: ((text: string) => void) | undefined
}

/** Returns the first target that accepts the argument, in the order of `TARGET_ORDER`. */
export async function findTarget(app: App, argument: string): Promise<Target> {
  const targets = (await app.contributions('targets')).map(make => make(app))
  for (const kind of TARGET_ORDER) {
    for (const target of targets.filter(candidate => candidate.kind === kind)) {
      if (await target.accepts(argument)) return target
    }
  }
  throw failures.target_unknown({ argument, problem: 'no plugin here knows such a target.' })
}

/**
 * Turns options into a run config without resolving the target. It finds every mistake of the command line
 * before anything is pulled or built.
 */
export async function configFromOptions(app: App, request: RunRequest, name: string): Promise<RunConfig> {
  const { options, given, cwd } = request
  const { volume = [], publish = [], label = [] } = options
  const config: RunConfig = {
    schema_version: SCHEMA_VERSION,
    name,
    base_name: name,
    container_name: toInstanceName(name),
    group: options.group ?? 'default',
    transport: options.transport ?? 'streamable-http',
    port: 0,
    env_vars: {
      ...(options['env-file'] ? await readEnvFile(options['env-file']) : {}),
      ...parseVariables(options.env ?? []),
    },
  }
  if (request.serverArgs.length) config.cmd_args = [...request.serverArgs]
  if (options['env-file-dir']) config.env_file_dir = await findEnvFolder(options['env-file-dir'], cwd)
  if (volume.length) config.volumes = await parseVolumes(volume, cwd)
  if (publish.length) config.publish = parsePublish(publish)
  if (label.length) config.container_labels = Object.fromEntries(label.map(readLabel))
  if (options.memory ?? options.cpus) config.resources = readResources(options.memory, options.cpus)
  if (options['permission-profile']) {
    config.permission_profile_name_or_path = options['permission-profile']
    config.permission_profile = await readProfile(options['permission-profile'], cwd)
  }
  if (request.profile) {
    config.permission_profile = absoluteProfile(request.profile, { cwd, path: 'permission_profile' })
  }
  if (options.network) {
    // Naming a network must not take away what the default profile allows.
    const profile = config.permission_profile ?? (await readProfile('network', cwd))
    config.permission_profile = { ...profile, network: { ...profile.network, mode: options.network } }
  }
  if (options['no-sandbox']) config.no_sandbox = true
  if (request.debug) config.debug = true
  Object.assign(config, request.kept)
  for (const group of await app.contributions('flags')) {
    if (group.of.includes('run'))
      await group.apply?.(withDefaults(group.flags, options), config, given, app.log.warn)
  }
  return config
}

/** The options, with the defaults of a table's flags where they are absent. */
export function withDefaults(table: FlagTable, options: RunOptions): RunOptions {
  const defaults = Object.entries(table).map(([name, flag]) => [name, flag.fallback])
  return { ...Object.fromEntries(defaults), ...options }
}

function readLabel(text: string): [string, string] {
  const label = parseLabel(text)
  if (label) return label
  throw core.usage({
    text: `--label takes KEY=VALUE, not "${text}".`,
    hint: 'Keys and values are letters, digits, ".", "_" and "-"; a key may have a prefix such as example.com/.',
  })
}

function readResources(
  memory: string | undefined,
  cpus: string | undefined,
): NonNullable<RunConfig['resources']> {
  if (memory !== undefined && parseMemory(memory) === undefined) {
    throw core.usage({ text: `--memory takes a size such as 512m or 2g, not "${memory}".` })
  }
  if (cpus !== undefined && parseCpus(cpus) === undefined) {
    throw core.usage({ text: `--cpus takes a number of cores such as 0.5 or 2, not "${cpus}".` })
  }
  return { ...(memory ? { memory } : {}), ...(cpus ? { cpus } : {}) }
}

/** Chooses the runtime once, on first need. */
export function runtimeOnce(app: App, name: string | undefined, wanted: Wanted = {}): () => Promise<Runtime> {
  let chosen: Promise<Runtime> | undefined
  return () => {
    chosen ??= app
      .service('runtimes')
      .then(runtimes => runtimes.select(name, wanted))
      .then(({ runtime, warnings }) => {
        for (const warning of warnings) app.log.warn(warning)
        return runtime
      })
    return chosen
  }
}
