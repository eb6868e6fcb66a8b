import { createHash, scryptSync } from 'node:crypto'
import { basename } from 'node:path'
import type { PackageRequest, WaitOptions } from '../../src/contracts/runtime.ts'
import { failures as core } from '../../src/errors.ts'
import { LABEL } from '../../src/lib/labels.ts'
import type { newestVersion, VersionAnswer } from '../../src/lib/newest-version.ts'
import {
  exactVersion,
  type PackageReference,
  parsePackageReference,
} from '../../src/lib/package-reference.ts'
import { type Reach, registriesFor } from './build-network.ts'
import { type BuildSettings, NO_VARIABLES } from './build-settings.ts'
import { isConfidential } from './build-variables.ts'
import { checkOptions, readCertificates } from './check-options.ts'
import { failures } from './failures.ts'
import { goRecipe, localGoRecipe } from './go-recipe.ts'
import { type LocalSource, readLocalSource } from './local-source.ts'
import { npxRecipe } from './npx-recipe.ts'
import { wholeDockerfile } from './phases.ts'
import type { CheckedOptions, Recipe, RecipeOptions } from './recipe.ts'
import { UVX_IMAGE, uvxRecipe } from './uvx-recipe.ts'

/** How one package becomes one image: all that decides its content. */
export interface Plan extends Recipe {
  /** Name of the image. */
  readonly tag: string
  readonly labels: Readonly<Record<string, string>>
  /** The whole build as one Dockerfile, for export. */
  readonly dockerfile: string
  /** Hash of the Dockerfile and all it copies. The same key gives the same image. */
  readonly key: string
  /** Undefined when no registry could be asked; the build then takes the newest version. */
  readonly version: string | undefined
  /** Local code that goes into the build context. */
  readonly source: LocalSource | undefined
  /** Why the version is not known. */
  readonly problem?: string
  /** Key of the same plan without a version: the last image built under it can replace this one. */
  readonly base: string
  /** Values that must not show in what a build prints. */
  readonly secrets: readonly string[]
  /** What the last build can reach over the network. */
  readonly reach: Reach
}

/** What a plan is made from, besides the request. */
export interface PlanSources {
  readonly settings: BuildSettings | undefined
  /** Asks the package's registry. */
  readonly newestVersion: typeof newestVersion
}

export const LABEL_KEY = LABEL.recipe
export const LABEL_VERSION = 'keelson-package-version'
const LABEL_PACKAGE = 'keelson-package'
const RECIPES = { npx: npxRecipe, uvx: uvxRecipe, go: goRecipe }

/**
 * Decides how an image is made of a package. Asks the package's registry for the version unless the request
 * names one. Without `settings` the build gets neither certificates nor variables beyond the options.
 */
export async function planPackage(
  { settings: from, newestVersion: newest }: PlanSources,
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
  const found = exact
    ? ({ kind: 'found', version: exact } as const)
    : await askForNewest(newest, reference, checked, wait)
  if (found.kind === 'unfit') throw failures.recipe_package_unfit({ package: label, problem: found.problem })
  if (found.kind === 'absent')
    throw failures.recipe_package_absent({ package: label, problem: found.problem })
  const version = found.kind === 'found' ? found.version : undefined
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
    ...(found.kind === 'unknown' ? { problem: found.problem } : {}),
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

async function askForNewest(
  newest: typeof newestVersion,
  reference: PackageReference,
  { image = UVX_IMAGE }: CheckedOptions,
  wait: WaitOptions,
): Promise<VersionAnswer> {
  wait.report?.(`Asking for the newest version of ${reference.name}`)
  // The tag of an official image names its Python version; PyPI then leaves out what would not run there.
  const python = /(?:^|\/)python:(\d+\.\d+)/.exec(image)?.[1]
  const found = await newest(reference, { signal: wait.signal, python })
  // The Python of this host was asked about then.
  return found.kind === 'unfit' && python === undefined ? { ...found, kind: 'unknown' } : found
}

/** Adds the settings to the options. What the user asked for with flags takes precedence. */
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
      // Labels show the key, so it must not let a short value be found by trying.
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
    // Not the label of instances: a container that a user starts from this image would inherit it.
    labels: { [LABEL_KEY]: key, [LABEL_PACKAGE]: label, ...(version ? { [LABEL_VERSION]: version } : {}) },
  }
}
