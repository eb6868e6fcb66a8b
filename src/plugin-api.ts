/**
 * What third-party plugins import from `keelson/plugin`.
 *
 * The host resolves that name to itself, so a plugin bundles nothing of keelson.
 */
import type { Plugin } from './plugin.ts'

export { Option } from 'clipanion'
/** A plugin's manifest names the version of this interface that it was made for. */
export { API_VERSION } from './api-version.ts'
export type { App } from './app.ts'
export { BaseCommand, type CliContext, type CommandClass } from './cli/base-command.ts'
export {
  type Flag,
  type FlagGroup,
  type FlagOptions,
  type FlagTable,
  type FlagValues,
  flag,
} from './cli/flags.ts'
export type { Hooks } from './contracts/hooks.ts'
export type * from './contracts/pipeline.ts'
export { STAGES } from './contracts/pipeline.ts'
export type { PermissionProfile, ProxyMode, RunConfig, Transport } from './contracts/run-config.ts'
export type { RunOptions } from './contracts/run-options.ts'
export type * from './contracts/runtime.ts'
export type * from './contracts/secrets.ts'
export type { ResolveContext, Resolved, Target } from './contracts/target.ts'
export type * from './contracts/tunnel.ts'
export type * from './contracts/workload.ts'
export { defineFailures, Failure, type FailureRow, type Failures } from './errors.ts'
export type { Members, ObjectOf, Schema, TypeOf } from './lib/schema.ts'
/** Makes the schemas of a section. */
export * as schema from './lib/schema.ts'
export type { Log } from './log.ts'
export type { Notify } from './notify.ts'
export type { Paths } from './paths.ts'
export type { Contributions, Plugin, RunFlags, Section, Services } from './plugin.ts'

/** Gives a plugin its type. */
export const definePlugin = (plugin: Plugin): Plugin => plugin
