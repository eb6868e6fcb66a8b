import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { PackageRequest, Runtime, WaitOptions } from '../../../src/contracts/runtime.ts'
import type { Target } from '../../../src/contracts/target.ts'
import { failures as core } from '../../../src/errors.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { atVersion, parsePackageArgument, type RecipeOptions } from '../../recipes/index.ts'

const SCHEME = /^(npx|uvx|go):\/\//

/** `npx://`, `uvx://`, `go://`: a package, built into an image or installed on the host. */
export const schemeTarget = (app: App): Target => ({
  kind: 'scheme',
  defaultTransport: 'stdio',
  accepts: argument => SCHEME.test(argument),
  defaultName: nameOfPackage,

  async resolve(argument, { options, before, ownBaseImage, runtime: chooseRuntime, signal, report }) {
    const buildWith = options['build-with'] ?? []
    const request = parsePackageArgument(argument, { cwd: process.cwd(), buildWith })
    if (!request) throw core.usage({ text: `"${argument}" names no package.` })
    const recipe: RecipeOptions = {
      runtimeImage: options['runtime-image'],
      addPackages: options['runtime-add-package'] ?? [],
      caCert: options['ca-cert'],
      allowNetwork: options['allow-build-network'],
      allowHosts: options['allow-build-host'] ?? [],
      withoutLogins: options['runtime-image'] !== undefined && !ownBaseImage,
    }
    const runtime = await chooseRuntime()
    const there = before?.source === argument && !recipe.caCert ? before.image : undefined
    const isBuilt =
      there && (await (await app.service('recipes')).isBuilt(there, request, { ...recipe, runtime }))
    const { image, version } = isBuilt
      ? { image: there, version: undefined }
      : await fetchPackage(app, request, recipe, runtime, { signal, report })
    const runtime_config = toRuntimeConfig(recipe, buildWith)
    return {
      source: version === undefined ? argument : `${request.scheme}://${atVersion(request, version).package}`,
      image,
      transport: options.transport ?? 'stdio',
      ...(runtime_config ? { runtime_config } : {}),
    }
  },
})

async function fetchPackage(
  app: App,
  request: PackageRequest,
  options: RecipeOptions,
  runtime: Runtime,
  wait: WaitOptions,
): Promise<{ image: string; version: string }> {
  if (!runtime.packages) return (await app.service('recipes')).build(request, { ...options, runtime }, wait)
  const imageFlags = {
    'runtime-image': Boolean(options.runtimeImage),
    'runtime-add-package': Boolean(options.addPackages?.length),
    'allow-build-network': Boolean(options.allowNetwork),
    'allow-build-host': Boolean(options.allowHosts?.length),
  }
  const useless = Object.entries(imageFlags).find(([, given]) => given)?.[0]
  if (useless) {
    throw core.usage({
      text: `--${useless} is for images; the ${runtime.name} runtime runs packages without one.`,
    })
  }
  if (options.caCert !== undefined) {
    await readUserFile(options.caCert, 'The file of --ca-cert')
    wait.report?.(
      `warning: --ca-cert is for images; the ${runtime.name} runtime installs with what this machine trusts`,
    )
  }
  return runtime.packages.install(request, wait)
}

function toRuntimeConfig(
  { runtimeImage, addPackages = [] }: RecipeOptions,
  buildWith: readonly string[],
): RunConfig['runtime_config'] {
  const config = {
    ...(runtimeImage ? { builder_image: runtimeImage } : {}),
    ...(addPackages.length ? { additional_packages: [...addPackages] } : {}),
    ...(buildWith.length ? { build_with: [...buildWith] } : {}),
  }
  return Object.keys(config).length ? config : undefined
}

/** `@scope/name@1.2.3` becomes `scope-name`, `./cmd/server` becomes `cmd-server`. */
function nameOfPackage(argument: string): string {
  return (
    argument
      .replace(SCHEME, '')
      .replace(/(?<=.)@[^/@]*$/, '')
      .replace(/[^A-Za-z0-9_-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 100) || 'workload'
  )
}
