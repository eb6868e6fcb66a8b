import { createHash, scryptSync } from 'node:crypto'
import { basename, join } from 'node:path'
import * as t from 'typanion'
import type { ImageStore, PackageRequest, Report, Runtime, WaitOptions } from '../../src/contracts/runtime.ts'
import { failures as core, Failure } from '../../src/errors.ts'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { newestVersion } from '../../src/lib/newest-version.ts'
import {
  exactVersion,
  type PackageReference,
  parsePackageReference,
} from '../../src/lib/package-reference.ts'
import { redactValues } from '../../src/lib/redact.ts'
import { parseDocument } from '../../src/parse-document.ts'
import { withFileLock } from '../../src/with-file-lock.ts'
import { buildInTurn } from './build-in-turn.ts'
import { type BuildNetworks, type Reach, registriesFor } from './build-network.ts'
import { type BuildSettings, NO_VARIABLES } from './build-settings.ts'
import { isConfidential } from './build-variables.ts'
import { checkOptions, readCertificates } from './check-options.ts'
import { failures } from './failures.ts'
import { goRecipe, localGoRecipe } from './go-recipe.ts'
import { type LocalSource, readLocalSource } from './local-source.ts'
import { npxRecipe } from './npx-recipe.ts'
import { atVersion } from './package-argument.ts'
import { wholeDockerfile } from './phases.ts'
import type { CheckedOptions, Recipe, RecipeOptions } from './recipe.ts'
import { UVX_IMAGE, uvxRecipe } from './uvx-recipe.ts'

/** How one package becomes one image; everything that decides what will be in it. */
export interface Plan extends Recipe {
  /** Name of the image. */
  readonly tag: string
  readonly labels: Readonly<Record<string, string>>
  /** All of it as one Dockerfile, to look at or to take elsewhere. */
  readonly dockerfile: string
  /** Hash of the Dockerfile and all it copies: the same key, the same image. */
  readonly key: string
  /** Absent when no registry could be asked; the build then takes the newest. */
  readonly version: string | undefined
  /** Local code that goes into the build context. */
  readonly source: LocalSource | undefined
  /** Why the version is not known. */
  readonly problem?: string
  /** Key of the same plan without a version: what ran last under it can stand in. */
  readonly base: string
  /** Values that must not show in what a build prints. */
  readonly secrets: readonly string[]
  /** What the network of the last build leads to, if it has one. */
  readonly reach: Reach
}

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
   * Whether the image is here and was built as asked, certificates, network and variables of the settings
   * apart: they serve the build, and a run config that was exported does not hold them.
   */
  isBuilt(image: string, request: PackageRequest, options: BuildOptions): Promise<boolean>
}

export type BuildOptions = RecipeOptions & {
  readonly runtime: Pick<Runtime, 'name' | 'images' | 'isolation'>
}

const LABEL_KEY = 'keelson-recipe'
const LABEL_PACKAGE = 'keelson-package'
const LABEL_VERSION = 'keelson-package-version'
const LOCK_SECONDS = 30 * 60
const RECIPES = { npx: npxRecipe, uvx: uvxRecipe, go: goRecipe }

const lastBuilt = t.isObject({ image: t.isString(), version: t.isString() })
const builtAs = t.isObject({ key: t.isString() })

/** `folder` holds locks and what was built last, all of which can be lost. */
export function createRecipes(host: {
  folder: string
  /** Asks the package's registry. */
  newestVersion?: typeof newestVersion
  /** What goes for all builds of packages; code with a Dockerfile of its own is left as it is. */
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
    return planWith(settings, request, options, wait)
  }

  async function planWith(
    from: BuildSettings | undefined,
    request: PackageRequest,
    options: RecipeOptions,
    wait: WaitOptions,
  ): Promise<Plan> {
    const asked = await checkOptions(request, options)
    const complete = async () => (from ? addSettings(from, asked, { ...wait, options }) : asked)
    if (request.local) return planLocal(request, complete, options)
    const { scheme } = request
    const reference = parsePackageReference(scheme, request.package)
    if (!reference) throw failures.recipe_package_invalid({ scheme, package: request.package })
    const checked = await complete()
    const label = `${scheme}://${request.package}`
    const exact = exactVersion(reference)
    const answer = exact
      ? ({ kind: 'found', version: exact } as const)
      : await ask(newest, reference, checked, wait)
    if (answer.kind === 'absent')
      throw failures.recipe_package_absent({ package: label, problem: answer.problem })
    const version = answer.kind === 'found' ? answer.version : undefined
    const compose = RECIPES[scheme]
    const base = keyOf(compose({ reference, version: undefined }, checked), undefined)
    return {
      ...toPlan(compose({ reference, version }, checked), {
        name: `${scheme}-${reference.name}`,
        label,
        version,
        tag: options.tag,
      }),
      secrets: checked.variables.secrets,
      reach: await reachOf(scheme, checked),
      base,
      ...(answer.kind === 'unknown' ? { problem: answer.problem } : {}),
    }
  }

  async function planLocal(
    request: PackageRequest,
    complete: () => Promise<CheckedOptions>,
    options: RecipeOptions,
  ): Promise<Plan> {
    const { scheme, package: path } = request
    if (scheme !== 'go') throw failures.recipe_package_invalid({ scheme, package: path })
    const source = await readLocalSource(path)
    if (source.dockerfile !== undefined) assertUntouched(options)
    const checked = source.dockerfile === undefined ? await complete() : undefined
    const recipe: Recipe = checked
      ? localGoRecipe(source.main, checked)
      : { builds: [{ dockerfile: source.dockerfile ?? '', files: new Map() }] }
    const version = source.hash.slice(0, 16)
    const name = `go-${basename(path) || 'program'}`
    const made = toPlan(recipe, { name, label: `go://${path}`, version, tag: options.tag, source })
    return { ...made, base: made.key, secrets: (checked?.variables ?? NO_VARIABLES).secrets, reach: NOWHERE }
  }

  /** The key of what is asked for when the build needs no certificates, no variables and no network. */
  const plainKey = async (request: PackageRequest, options: RecipeOptions): Promise<string> => {
    const plain = { ...options, caCert: undefined, allowNetwork: undefined, allowHosts: undefined }
    return (await planWith(undefined, request, plain, {})).key
  }
  const recordOf = (image: string) =>
    join(folder, `image-${createHash('sha256').update(image).digest('hex').slice(0, 32)}.json`)

  async function findOrBuild(
    images: ImageStore,
    made: Plan,
    wait: WaitOptions & Pick<BuildOptions, 'runtime'>,
  ): Promise<{ image: string; version: string }> {
    const there = await alreadyBuilt(images, made)
    if (there) return there
    const standIn = made.problem === undefined ? undefined : await builtBefore(images, made)
    if (standIn) {
      wait.report?.(
        `warning: no newer version could be asked for (${made.problem}); using ${standIn.version}`,
      )
      return standIn
    }
    const lock = join(folder, `${made.key}.${wait.runtime.name}.lock`)
    const work = async () => (await alreadyBuilt(images, made)) ?? buildImage(images, made, wait)
    return withFileLock(lock, work, { seconds: LOCK_SECONDS })
  }

  async function buildImage(
    images: ImageStore,
    made: Plan,
    wait: WaitOptions & Pick<BuildOptions, 'runtime'>,
  ): Promise<{ image: string; version: string }> {
    const { tag, secrets, reach } = made
    const { runtime, signal } = wait
    wait.signal?.throwIfAborted()
    wait.report?.(`Building ${tag}`)
    const report: Report = (line, kind) => wait.report?.(redactValues(line, secrets), kind)
    let said: string | undefined
    try {
      const openNetwork = async (image: string) => {
        if (!networks) throw new Error('this program has no networks for builds')
        return networks.open({ runtime, image, reach, report, signal })
      }
      said = await buildInTurn(images, made, { owner: folder, openNetwork, signal, report })
    } catch (error) {
      throw withoutSecrets(error, secrets)
    }
    const version = made.version ?? said ?? 'latest'
    await writeFileAtomic(join(folder, `${made.base}.json`), JSON.stringify({ image: tag, version }))
    return { image: tag, version }
  }

  async function alreadyBuilt(
    images: ImageStore,
    { tag, key, version }: Plan,
  ): Promise<{ image: string; version: string } | undefined> {
    const labels = await images.labels(tag)
    if (labels?.[LABEL_KEY] !== key) return undefined
    return { image: tag, version: version ?? labels[LABEL_VERSION] ?? 'latest' }
  }

  /** What the same wish led to when the registry still answered. */
  async function builtBefore(
    images: ImageStore,
    { base }: Plan,
  ): Promise<{ image: string; version: string } | undefined> {
    const path = join(folder, `${base}.json`)
    const text = await readFileIfThere(path)
    if (text === undefined) return undefined
    const found = parseDocument(text, path, lastBuilt)
    return (await images.has(found.image)) ? found : undefined
  }

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
      const built = await findOrBuild(images, made, { ...wait, runtime: options.runtime })
      if (built.version !== 'latest') {
        const key = await plainKey(atVersion(request, built.version), options)
        await writeFileAtomic(recordOf(built.image), JSON.stringify({ key }))
      }
      return built
    },
  }
}

function ask(
  newest: typeof newestVersion,
  reference: PackageReference,
  { image = UVX_IMAGE }: CheckedOptions,
  wait: WaitOptions,
) {
  wait.report?.(`Asking for the newest version of ${reference.name}`)
  // An official image says which Python is in it; PyPI then leaves out what would not run there.
  const python = /(?:^|\/)python:(\d+\.\d+)/.exec(image)?.[1]
  return newest(reference, { signal: wait.signal, python })
}

/** What the user asked for with flags comes before the settings. */
async function addSettings(
  settings: BuildSettings,
  asked: CheckedOptions,
  { options, report }: Pick<WaitOptions, 'report'> & { options: RecipeOptions },
): Promise<CheckedOptions> {
  const path = asked.ca === undefined ? await settings.caCertificate() : undefined
  return {
    ...asked,
    ca: path === undefined ? asked.ca : await readCertificates(path, 'The CA certificate of the settings'),
    variables: options.withoutLogins
      ? await settings.publicVariables(asked.image, report)
      : await settings.variables(report),
  }
}

const NOWHERE: Reach = { registries: [], hosts: [] }

async function reachOf(
  scheme: PackageRequest['scheme'],
  { allowNetwork, allowHosts, variables }: CheckedOptions,
): Promise<Reach> {
  if (!allowNetwork || scheme === 'go') return NOWHERE
  return { registries: await registriesFor(scheme, variables, process.env), hosts: allowHosts }
}

/** A build that fails shows its last lines, and a package may print what it was given. */
function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Failure) || secrets.length === 0) return error
  const { code, status, exit, hint, message } = error
  return new Failure(code, { text: redactValues(message, secrets), status, exit, hint })
}

function assertUntouched({ runtimeImage, addPackages, caCert, args }: RecipeOptions): void {
  const given = [
    ['runtime-image', runtimeImage],
    ['runtime-add-package', addPackages?.[0]],
    ['ca-cert', caCert],
  ].find(([, value]) => value !== undefined)
  const where = 'a folder that has a Dockerfile of its own'
  if (given?.[0]) throw failures.recipe_option_useless({ flag: given[0], where })
  if (args?.length) throw core.usage({ text: `Arguments cannot be baked into ${where}.` })
}

function keyOf(recipe: Recipe, source: LocalSource | undefined): string {
  const hash = createHash('sha256')
  const add = (text: string) => hash.update(`${Buffer.byteLength(text)}\0`).update(text)
  add(wholeDockerfile(recipe))
  for (const { files } of recipe.builds) {
    for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
      add(path)
      // The key is shown in labels: nobody shall find a short value by trying.
      add(isConfidential(path) ? scryptSync(content, path, 32).toString('hex') : content)
    }
  }
  if (source) add(source.hash)
  return hash.digest('hex')
}

function toPlan(
  recipe: Recipe,
  facts: {
    name: string
    label: string
    version: string | undefined
    tag: string | undefined
    source?: LocalSource
  },
): Omit<Plan, 'base' | 'secrets' | 'reach'> {
  const { name, label, version, tag, source } = facts
  const key = keyOf(recipe, source)
  const cleaned = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 100)
    .replace(/-$/, '')
  return {
    ...recipe,
    dockerfile: wholeDockerfile(recipe),
    key,
    version,
    source,
    tag: tag ?? `keelson.local/${cleaned}:${key.slice(0, 16)}`,
    // Not the label of what we manage: a container that somebody starts by hand would inherit it.
    labels: { [LABEL_KEY]: key, [LABEL_PACKAGE]: label, ...(version ? { [LABEL_VERSION]: version } : {}) },
  }
}
