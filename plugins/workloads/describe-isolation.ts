import type { App } from '../../src/app.ts'
import { toMounts } from '../../src/contracts/mounts.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Log } from '../../src/log.ts'
import { networkKindOf } from '../egress/index.ts'

/** As `describeIsolation`, of a workload as it is. */
export async function isolationOf(config: RunConfig, app: App): Promise<string | undefined> {
  const runtimes = await app.service('runtimes')
  // The runtime may be of a plugin that is gone; the workload is still shown.
  const runtime = config.runtime ? await runtimes.get(config.runtime).catch(() => undefined) : undefined
  return describeIsolation(config, { isInternal: runtime?.isInternal ?? false, log: app.log })
}

/**
 * What a local server may do, in one line: where it runs, what it may reach, what is mounted, and its limits, such as
 * `docker; reaches api.example.com; mounts /home/me/notes (read-only); at most 512m of memory`.
 *
 * @param options.isInternal as `Runtime.isInternal`, of its runtime
 */
export function describeIsolation(
  config: RunConfig,
  { isInternal, log }: { isInternal: boolean; log: Log },
): string | undefined {
  if (config.remote_url || isInternal) return undefined // it starts no program
  if (config.no_sandbox) return 'none (--no-sandbox): it can do everything that you can'
  const { memory, cpus } = config.resources ?? {}
  const mounts = toMounts(config, log).map(
    ({ source, readOnly }) => `${source}${readOnly ? ' (read-only)' : ''}`,
  )
  return [
    config.runtime,
    `reaches ${describeReach(config)}`,
    mounts.length ? `mounts ${mounts.join(', ')}` : 'no files of yours',
    ...(memory ? [`at most ${memory} of memory`] : []),
    ...(cpus ? [`at most ${cpus} cores`] : []),
  ].join('; ')
}

function describeReach(config: RunConfig): string {
  const kind = networkKindOf(config)
  if (kind === 'none') return 'no network'
  if (kind === 'open')
    return `all of the network${config.permission_profile?.network?.mode ? ` (${config.permission_profile.network.mode})` : ''}, not isolated`
  const profile = config.permission_profile
  const {
    insecure_allow_all: all,
    allow_host: hosts = [],
    allow_port: ports = [],
  } = profile?.network?.outbound ?? {}
  if (!profile || all) return 'any host through the egress proxy'
  if (hosts.length === 0) return 'no host'
  return `${hosts.join(', ')}${ports.length ? ` at port ${ports.join(', ')}` : ''}`
}

/** Who has signed the image, and whether that was checked. */
export function describeVerification({ image_signer: signer }: RunConfig): string | undefined {
  if (!signer) return undefined
  const who = signer.identity ?? signer.repository ?? signer.issuer ?? 'the signer that the registry names'
  return signer.verified ? `signed by ${who}` : `not checked (the registry names ${who})`
}
