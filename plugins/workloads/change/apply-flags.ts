import { isDeepStrictEqual } from 'node:util'
import type { App } from '../../../src/app.ts'
import type { FlagTable } from '../../../src/cli/flags.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { configFromOptions, type RunRequest } from '../build-config.ts'
import { failures } from '../failures.ts'

/** Flags that say how a workload is made or where it runs, which an edit cannot change. */
const OF_RUN: ReadonlySet<string> = new Set([
  ...['name', 'runtime', 'foreground', 'from-config', 'remote-auth', 'accept-permissions'],
  ...['image-verification', 'accept-changed-signer', 'accept-less-verification'],
  ...['runtime-image', 'runtime-add-package', 'build-with', 'allow-build-network', 'allow-build-host'],
])

type Members = { readonly [name: string]: unknown }

/**
 * The run config with what the given flags change. A flag for variables, labels, secrets or the settings of a feature
 * changes only those that it names; every other flag replaces what was there. Fails with `flag_not_edited`.
 */
export async function applyFlags(
  app: App,
  before: RunConfig,
  request: RunRequest,
  table: FlagTable,
): Promise<RunConfig> {
  const { given, options } = request
  const refused = [...given].find(name => OF_RUN.has(name))
  if (refused) throw failures.flag_not_edited({ flag: refused, name: before.name })
  const make = (changed: Partial<RunRequest>) =>
    configFromOptions(app, { ...request, ...changed }, before.name)
  const plain = await make({ given: new Set(), options: {}, serverArgs: [], debug: false })
  let edited = overlay(before, plain, await make({}))
  for (const name of [...given].filter(name => isDefault(table[name], Reflect.get(options, name)))) {
    // A default changes nothing in a new run config, but this one may have the opposite.
    const opposite = await make({ given: new Set([name]), options: { [name]: !table[name]?.fallback } })
    edited = overlay(edited, opposite, plain)
  }
  if (options.group !== undefined) edited.group = options.group
  if (options.transport !== undefined) edited.transport = options.transport
  if (options.secret?.length) edited.secrets = withSecrets(before.secrets, edited.secrets)
  return edited
}

const isDefault = (flag: FlagTable[string] | undefined, value: unknown): boolean =>
  flag?.kind === 'boolean' && value === flag.fallback

/** `before` with the members in which `to` differs from `from`. A profile counts as one value. */
function overlay<T extends object>(before: T, from: object, to: object): T {
  const result = { ...before } as Record<string, unknown>
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [old, then, now] = [before, from, to].map(one => (one as Members)[name])
    if (isDeepStrictEqual(then, now)) continue
    if (isObject(old) && (isObject(then) || isObject(now)) && name !== 'permission_profile')
      result[name] = overlay(old, isObject(then) ? then : {}, isObject(now) ? now : {})
    else if (now === undefined) delete result[name]
    else result[name] = now
  }
  return result as T
}

const targetOf = (reference: string): string => /,target=(.+)$/s.exec(reference)?.[1] ?? reference

/** All references, where a new one replaces an old one for the same variable. */
function withSecrets(there: readonly string[] = [], more: readonly string[] = []): string[] {
  const replaced = new Set(more.map(targetOf))
  return [...there.filter(reference => !replaced.has(targetOf(reference))), ...more]
}
