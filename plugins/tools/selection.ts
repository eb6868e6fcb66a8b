import type { RunConfig } from '../../src/contracts/run-config.ts'
import { createNames } from './name-pattern.ts'

/** How one tool of the server is shown. */
export type Override = NonNullable<RunConfig['tools_override']>[string]

/** Which tools clients see, and under which names. */
export interface Selection {
  /** The name that clients see; undefined where nobody may see the tool of that name, whatever it is. */
  shownName(real: string): string | undefined
  /** The name that the server knows; undefined where clients have no such tool. */
  realName(shown: string): string | undefined
  override(real: string): Override | undefined
  /** The arguments that are hidden or fixed. */
  unseenArguments(real: string): readonly string[]
  /** Why clients do not see the tool; undefined where they do, if it passes `readOnly`. */
  hiddenBecause(real: string): string | undefined
  /** Only tools whose annotations say that they only read. */
  readonly readOnly: boolean
}

export type Settings = Pick<RunConfig, 'tools_filter' | 'tools_override' | 'tools_deny' | 'tools_read_only'>

/** Longer names match nothing: matching them would take long. */
const MAX_NAME = 256

/** The selection of a run config; undefined where it shows all tools as they are. */
export function createSelection(settings: Settings): Selection | undefined {
  const { tools_filter, tools_deny, tools_override, tools_read_only } = settings
  const overrides = new Map(Object.entries(tools_override ?? {}))
  const readOnly = tools_read_only === true
  if (!tools_filter?.length && !tools_deny?.length && !overrides.size && !readOnly) return undefined
  const isListed = tools_filter?.length ? createNames(tools_filter) : () => true
  const isDenied = createNames(tools_deny ?? [])
  const problemOf = (name: string) => {
    if (name.length > MAX_NAME) return 'its name is too long'
    if (!isListed(name)) return 'not in --tools'
    return isDenied(name) ? 'in --tools-deny' : undefined
  }
  const isOffered = (name: string) => problemOf(name) === undefined
  /** By new name. */
  const renamed = new Map([...overrides].flatMap(([real, { name }]) => (name ? [[name, real]] : [])))
  const newName = (real: string) => overrides.get(real)?.name || undefined

  function hiddenBecause(real: string): string | undefined {
    // A tool of the server that has the new name of another is not reached any more.
    const taker = renamed.get(real) ?? real
    const shown = newName(real)
    if (shown === undefined && taker !== real) return `its name is the new one of ${taker}`
    return problemOf(shown ?? real)
  }

  return {
    readOnly,
    override: real => overrides.get(real),
    unseenArguments(real) {
      const { hidden_arguments, fixed_arguments } = overrides.get(real) ?? {}
      return [...(hidden_arguments ?? []), ...Object.keys(fixed_arguments ?? {})]
    },
    hiddenBecause,
    shownName: real => (hiddenBecause(real) === undefined ? (newName(real) ?? real) : undefined),
    realName(shown) {
      if (!isOffered(shown)) return undefined
      const real = renamed.get(shown) ?? shown
      return (newName(real) ?? real) === shown ? real : undefined
    },
  }
}
