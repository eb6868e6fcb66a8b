import type { App } from '../../src/app.ts'
import { type RunConfig, toInstanceName } from '../../src/contracts/run-config.ts'
import type { RunOptions } from '../../src/contracts/run-options.ts'
import type { Resolved } from '../../src/contracts/target.ts'
import { findFreePort } from '../../src/lib/ports.ts'
import { adoptMounts } from './adopt-mounts.ts'
import type { ApplyOptions } from './apply-upgrade.ts'
import type { UpgradeCheck } from './check-result.ts'
import { compareReferences } from './compare-references.ts'
import { failures } from './failures.ts'

/**
 * The run config of the newer version: what the registry target verified and fetched, with the settings of the
 * workload. Transport and permissions stay, except for mounts that the user has agreed to.
 */
export async function makeCandidateConfig(
  app: App,
  from: RunConfig,
  check: UpgradeCheck,
  options: ApplyOptions & { serves: boolean },
): Promise<RunConfig> {
  const given = withNew(from.secrets, options.secrets)
  const asked: RunConfig = { ...from, env_vars: { ...from.env_vars, ...options.env }, secrets: given }
  if (given.length) await (await app.service('secrets')).resolve(given)
  for (const name of given.map(targetOf)) {
    if (options.env?.[name] !== undefined)
      app.log.warn(`${name} is given by a secret; its other value is not used.`)
  }
  const resolved = await resolve(app, asked, options)
  const shown = check.candidate_image ?? ''
  const found = resolved.source ?? ''
  if (!isSame(shown, found)) throw failures.upgrade_moved({ name: from.name, shown, found })

  const { source, image, runtime_config, env_vars, secrets } = resolved
  const { registry_server_name, registry_env_vars, image_verification, image_signer } = resolved
  const { secrets: _, image_signer: __, ...rest } = asked
  const all = withNew(given, secrets)
  return {
    ...rest,
    ...(source === undefined ? {} : { source }),
    ...(image === undefined ? {} : { image }),
    ...(runtime_config ? { runtime_config } : {}),
    ...(registry_server_name ? { registry_server_name } : {}),
    ...(registry_env_vars ? { registry_env_vars } : {}),
    ...(image_verification ? { image_verification } : {}),
    ...(image_signer ? { image_signer } : {}),
    ...adoptMounts(from, resolved),
    env_vars: { ...env_vars, ...asked.env_vars },
    ...(all.length ? { secrets: all } : {}),
    container_name: await freeInstanceName(app, from),
    ...(options.serves ? await ownPort(app, from) : {}),
  }
}

/** Verifies and fetches as `run` does. The registry target returns what runs, and its digest. */
async function resolve(
  app: App,
  asked: RunConfig,
  { verification, accepted, acceptPermissions, caCert, ask, signal, report }: ApplyOptions,
): Promise<Resolved> {
  const targets = (await app.contributions('targets')).map(make => make(app))
  const target = targets.find(({ kind }) => kind === 'registry')
  if (!target) throw new Error('no plugin here resolves servers of the registry')
  const { runtime_config: build, registry_server_name: server = '' } = asked
  const options: RunOptions = {
    'image-verification': verification ?? asked.image_verification ?? 'warn',
    'accept-changed-signer': accepted?.changedSigner ?? false,
    'accept-less-verification': accepted?.lessVerification ?? false,
    'accept-permissions': acceptPermissions,
    'ca-cert': caCert,
    'runtime-image': build?.builder_image,
    'runtime-add-package': build?.additional_packages ?? [],
    'build-with': build?.build_with ?? [],
    transport: asked.transport,
  }
  const runtimes = await app.service('runtimes')
  const runtime = async () => (await runtimes.select(asked.runtime, { noSandbox: asked.no_sandbox })).runtime
  const ownProfile = asked.permission_profile_name_or_path !== undefined
  return target.resolve(server, { options, asked, before: asked, ownProfile, ask, runtime, signal, report })
}

const targetOf = (reference: string): string => /,target=(.+)$/s.exec(reference)?.[1] ?? reference

/** Adds secrets; a variable that has one keeps it. */
function withNew(there: readonly string[] = [], more: readonly string[] = []): string[] {
  const taken = new Set(there.map(targetOf))
  return [...there, ...more.filter(reference => !taken.has(targetOf(reference)))]
}

/** Whether neither reference is newer. A package is named by the version that was found for the wanted one. */
const isSame = (a: string, b: string): boolean =>
  compareReferences(a, b).kind === 'not-newer' && compareReferences(b, a).kind === 'not-newer'

/** The name of the new instance. Both versions exist for a moment, so it differs from the old one. */
async function freeInstanceName(app: App, { name }: RunConfig): Promise<string> {
  const configs = await (await app.service('workloadStore')).configs.list()
  const taken = new Set(configs.flatMap(config => [config.name, config.container_name]))
  for (;;) {
    const candidate = `${toInstanceName(name)}-${Math.random().toString(16).slice(2, 6)}`
    if (!taken.has(candidate)) return candidate
  }
}

/** The port of the new server. Where both use the ports of this host, it differs from the old one. */
async function ownPort(app: App, config: RunConfig): Promise<{ target_port?: number }> {
  if (config.transport === 'stdio') return {}
  const runtime = await (await app.service('runtimes')).get(config.runtime ?? '')
  const shared = !runtime.images || config.permission_profile?.network?.mode === 'host'
  return shared ? { target_port: await findFreePort() } : {}
}
