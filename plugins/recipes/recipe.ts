import type { PackageReference } from '../../src/lib/package-reference.ts'
import type { BuildVariables } from './build-settings.ts'

/** What the user may choose about an image, as given. */
export interface RecipeOptions {
  /** Base image instead of the scheme's own. */
  readonly runtimeImage?: string | undefined
  /** System packages to add to the image. */
  readonly addPackages?: readonly string[] | undefined
  /** Path of a PEM file: certificates to trust from the first step of the build on; else those of the settings. */
  readonly caCert?: string | undefined
  /** Arguments baked into the image, before those given at the start. */
  readonly args?: readonly string[] | undefined
  /** The package's own code may reach the package registries while the image is built. */
  readonly allowNetwork?: boolean | undefined
  /** Hosts that it may reach as well, as in `allow_host` of a permission profile. */
  readonly allowHosts?: readonly string[] | undefined
  /** The base image is not one that the user named for this build, so it is not shown the logins of the settings. */
  readonly withoutLogins?: boolean | undefined
  /** Name of the image instead of one made from what is in it. */
  readonly tag?: string | undefined
}

/** Options that have been read and checked. */
export interface CheckedOptions {
  readonly image: string | undefined
  readonly packages: readonly string[]
  /** PEM. */
  readonly ca: string | undefined
  readonly args: readonly string[]
  readonly buildWith: readonly string[]
  readonly allowNetwork: boolean
  readonly allowHosts: readonly string[]
  /** What the steps that fetch see, and neither the package's code nor the image does. */
  readonly variables: BuildVariables
}

/** The builds that make an image, in their order; the last one makes the image itself. */
export interface Recipe {
  readonly builds: readonly RecipeBuild[]
}

export interface RecipeBuild {
  /** By which the Dockerfiles of later builds name what this one makes; absent for the image itself. */
  readonly name?: 'fetched' | 'base'
  readonly dockerfile: string
  /** Path in the build context to content. */
  readonly files: ReadonlyMap<string, string>
  /** `registries`: one that leads to these, and to hosts that the user allows. Absent: the engine's network for builds. */
  readonly network?: 'none' | 'registries'
}

/** A package to build at a version, or at whatever its tool picks when the version is not known. */
export interface Pinned {
  readonly reference: PackageReference
  readonly version: string | undefined
}

/** Marks the line of a build that tells which version was fetched. */
export const VERSION_LINE = 'keelson-version='
/** Marks the line of a build that tells which packages run code of theirs from now on. */
export const SCRIPTS_LINE = 'keelson-scripts='
