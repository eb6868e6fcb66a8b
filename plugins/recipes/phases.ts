import { variableFiles, withVariables } from './build-variables.ts'
import type { CheckedOptions, Recipe, RecipeBuild } from './recipe.ts'
import { addUser, beginStage, caFiles, endStage, toDockerfile } from './stages.ts'

/** What turns a package into an image, apart by what each step may do. */
export interface Phases {
  /** Gets what the package is made of, with network and logins, and runs nothing of it. */
  readonly fetch: {
    readonly image: string
    /** System packages that it usually needs. */
    readonly wants: readonly string[]
    /** Steps that are the same for all packages, so that the engine makes them once. What they make is taken over. */
    readonly tools?: readonly string[]
    readonly steps: readonly string[]
    /** All that is taken over from what `steps` make. */
    readonly folder: string
    readonly files: ReadonlyMap<string, string>
  }
  /** Makes `/app` of it. Here the package's own code may run: no login is in reach, and no network. */
  readonly build: {
    readonly steps: readonly string[]
    readonly files: ReadonlyMap<string, string>
  }
  /** What the program runs in. */
  readonly runtime: {
    readonly image: string
    readonly wants: readonly string[]
    readonly env?: readonly string[]
  }
}

/**
 * Three builds, one after another, since not every builder can take the network from single steps. The
 * first two fetch: the package, and what the base image lacks. The last one runs the package's code.
 */
export function toRecipe({ fetch, build, runtime }: Phases, options: CheckedOptions): Recipe {
  const fetched: RecipeBuild = {
    name: 'fetched',
    dockerfile: toDockerfile([
      ...beginStage(fetch.image, options, { as: 'tools', wants: fetch.wants, trusts: true }),
      ...(fetch.tools ?? []),
      '',
      ...withVariables(['FROM tools AS fetch', ...fetch.steps], options.variables, fetch.folder),
      '',
      'FROM tools AS fetched',
      `COPY --from=fetch ${fetch.folder} ${fetch.folder}`,
    ]),
    files: new Map([...fetch.files, ...caFiles(options.ca), ...variableFiles(options.variables)]),
  }
  const base: RecipeBuild = {
    name: 'base',
    dockerfile: toDockerfile([
      ...beginStage(runtime.image, options, { as: 'base', wants: runtime.wants }),
      addUser(),
    ]),
    files: new Map(caFiles(options.ca)),
  }
  const image: RecipeBuild = {
    dockerfile: toDockerfile([
      'FROM fetched AS builder',
      ...(options.allowNetwork ? ['ENV NODE_USE_ENV_PROXY=1'] : []),
      // What was built with other hosts in reach is not to be found in the cache of the engine.
      ...(options.allowHosts.length > 0
        ? [`LABEL keelson-build-hosts="${options.allowHosts.join(' ')}"`]
        : []),
      ...build.steps,
      '',
      'FROM base',
      ...endStage(options.args, runtime.env),
    ]),
    files: build.files,
    network: options.allowNetwork ? 'registries' : 'none',
  }
  return { builds: [fetched, base, image] }
}

/** All of the builds as one Dockerfile, for a builder that can take the network from single steps. */
export const wholeDockerfile = ({ builds }: Recipe): string =>
  builds
    .map(({ dockerfile, network }) =>
      network === 'none' ? dockerfile.replace(/^RUN /gm, 'RUN --network=none ') : dockerfile,
    )
    .join('\n')
