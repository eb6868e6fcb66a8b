import { createHash } from 'node:crypto'
import { join } from 'node:path'
import * as t from 'typanion'
import type { PackageRequest, Runtime, WaitOptions } from '../../src/contracts/runtime.ts'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { newestVersion } from '../../src/lib/newest-version.ts'
import { parseDocument } from '../../src/parse-document.ts'
import type { BuildNetworks } from './build-network.ts'
import type { BuildSettings } from './build-settings.ts'
import { failures } from './failures.ts'
import { findOrBuild } from './find-or-build.ts'
import { atVersion } from './package-argument.ts'
import { type Plan, planPackage } from './plan-package.ts'
import type { RecipeOptions } from './recipe.ts'

/** Makes container images of npm, PyPI and Go packages. No package code runs on the host. */
export interface Recipes {
  /** Decides what would be built. Asks the package's registry for the version, builds nothing. */
  plan(request: PackageRequest, options?: RecipeOptions, wait?: WaitOptions): Promise<Plan>
  /** Builds the image unless the runtime has it already. */
  build(
    request: PackageRequest,
    options: BuildOptions,
    wait?: WaitOptions,
  ): Promise<{ image: string; version: string }>
  /**
   * Whether the runtime has the image and it was built by these options. Certificates, network and variables
   * are not compared: only the build needs them, and an exported run config does not hold them.
   */
  isBuilt(image: string, request: PackageRequest, options: BuildOptions): Promise<boolean>
}

export type BuildOptions = RecipeOptions & {
  readonly runtime: Pick<Runtime, 'name' | 'images' | 'isolation'>
}

const builtAs = t.isObject({ key: t.isString() })

/** Makes the service. `folder` holds locks and records of builds, and may be deleted. */
export function createRecipes(host: {
  folder: string
  /** Asks the package's registry. */
  newestVersion?: typeof newestVersion
  /** Settings of all builds of packages. Code with a Dockerfile of its own is built without them. */
  settings?: BuildSettings
  /** Without it no code of packages gets a network. */
  networks?: BuildNetworks
}): Recipes {
  const { folder, newestVersion: newest = newestVersion, settings, networks } = host

  async function plan(
    request: PackageRequest,
    options: RecipeOptions = {},
    wait: WaitOptions = {},
  ): Promise<Plan> {
    return planPackage({ newestVersion: newest, settings }, request, options, wait)
  }

  /** The key of the plan when the build needs no certificates, no variables and no network. */
  const plainKey = async (request: PackageRequest, options: RecipeOptions): Promise<string> => {
    const plain = { ...options, caCert: undefined, allowNetwork: undefined, allowHosts: undefined }
    return (await planPackage({ newestVersion: newest, settings: undefined }, request, plain, {})).key
  }
  const recordOf = (image: string) =>
    join(folder, `image-${createHash('sha256').update(image).digest('hex').slice(0, 32)}.json`)

  return {
    plan,
    async isBuilt(image, request, options) {
      const path = recordOf(image)
      const text = await readFileIfThere(path)
      if (text === undefined || !(await options.runtime.images?.has(image))) return false
      return parseDocument(text, path, builtAs).key === (await plainKey(request, options))
    },
    async build(request, options, wait = {}) {
      const { images } = options.runtime
      if (!images) throw failures.recipe_no_images({ runtime: options.runtime.name })
      const made = await plan(request, options, wait)
      const built = await findOrBuild({ folder, networks }, images, made, {
        ...wait,
        runtime: options.runtime,
      })
      if (built.version !== 'latest') {
        const key = await plainKey(atVersion(request, built.version), options)
        await writeFileAtomic(recordOf(built.image), JSON.stringify({ key }))
      }
      return built
    },
  }
}
