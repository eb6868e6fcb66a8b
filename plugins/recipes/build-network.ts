import type { ImageBuild, Isolation, Report, Scheme } from '../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { isFailure } from '../../src/errors.ts'
import { npmRegistriesIn, readNpmSettings } from '../../src/lib/npm-settings.ts'
import { PUBLIC_NPM, PUBLIC_PYPI } from '../../src/lib/public-registries.ts'
import { readPypiSettings } from '../../src/lib/pypi-settings.ts'
import type { Log } from '../../src/log.ts'
import type { Services } from '../../src/plugin.ts'
import type { BuildVariables } from './build-settings.ts'

/** Where a package's code may connect to while it is built. */
export interface Reach {
  /** Addresses of the package registries. */
  readonly registries: readonly string[]
  /** Further hosts, as the user named them. */
  readonly hosts: readonly string[]
}

/** The network of one build, open until it is closed. */
export interface BuildNetwork {
  readonly network: NonNullable<ImageBuild['network']>
  /** The hosts that the build was denied: `host:port`. */
  readonly denied: ReadonlySet<string>
  /** Removes all of it. */
  close(): Promise<void>
}

export interface BuildNetworks {
  /** Opens the network of one build. `image` is one that the engine has. Fails with `isolation_unsupported`. */
  open(options: {
    runtime: { readonly name: string; readonly isolation?: Isolation }
    image: string
    reach: Reach
    report: Report
    signal?: AbortSignal | undefined
  }): Promise<BuildNetwork>
}

/** Makes networks whose only exit is an egress proxy of this process. */
export const createBuildNetworks = (host: {
  egress: () => Promise<Pick<Services['egress'], 'openRegistryProxy'>>
  log: Log
}): BuildNetworks => ({
  async open({ runtime: { name, isolation }, image, reach, report, signal }) {
    if (!isolation?.prepareBuild) throw unsupported(name, 'it has no means to do so for builds.')
    const { openRegistryProxy } = await host.egress()
    const isolatedNetwork = await isolation.prepareBuild({ image, signal })
    const { instance, warnings } = isolatedNetwork
    try {
      for (const warning of warnings) report(`warning: ${warning}`)
      const proxy = await openRegistryProxy({
        ...reach,
        listen: isolatedNetwork.proxyAddress,
        isolatedNetwork,
        log: host.log,
      })
      return {
        network: isolatedNetwork,
        denied: proxy.denied,
        async close() {
          await proxy.close()
          await isolation.remove(instance)
        },
      }
    } catch (error) {
      await isolation.remove(instance)
      throw isFailure(error, 'egress_listener_unusable') ? unsupported(name, error.message) : error
    }
  },
})

const unsupported = (runtime: string, problem: string) =>
  runtimeFailures.isolation_unsupported({
    runtime,
    problem,
    hint: 'Leave out --allow-build-network and --allow-build-host, or choose another runtime.',
  })

/**
 * Addresses of the registries that packages of a scheme come from: those that the user has set up, for
 * this machine and for builds, and the public one, which tools without settings ask.
 */
export async function registriesFor(
  scheme: Exclude<Scheme, 'go'>,
  { values, authFiles }: BuildVariables,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const all = { ...env, ...Object.fromEntries(values) }
  const found =
    scheme === 'uvx'
      ? [PUBLIC_PYPI, ...(await readPypiSettings(all, 'pip')).indexes]
      : [
          PUBLIC_NPM,
          ...(await readNpmSettings(all)).registries,
          ...npmRegistriesIn(authFiles.get('npmrc') ?? '', all),
        ]
  return [...new Set(found)]
}
