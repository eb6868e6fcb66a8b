import type { ListedTool } from '../../src/contracts/pipeline.ts'
import { isObject } from '../../src/lib/is-object.ts'
import { suggest } from '../../src/lib/suggest.ts'
import { createPattern, isPattern } from './name-pattern.ts'
import type { Override, Settings } from './selection.ts'

/** What does not fit the tools of a server, as sentences. */
export interface NameProblems {
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

/** Whether there is a name or pattern that a list of tools could show to be wrong. */
export const hasNames = ({ tools_filter, tools_deny, tools_override }: Settings): boolean =>
  Boolean(tools_filter?.length || tools_deny?.length || Object.keys(tools_override ?? {}).length)

/**
 * Compares names and patterns with the tools of the server. An unknown name is an error: a misspelt rule would hide
 * what was meant to be shown, or leave open what was meant to be denied. A pattern may match nothing yet.
 */
export function checkNames(settings: Settings, tools: readonly ListedTool[]): NameProblems {
  const { tools_filter, tools_deny } = settings
  const overrides = new Map(Object.entries(settings.tools_override ?? {}))
  const byName = new Map(tools.map(tool => [tool.name, tool]))
  const newName = (real: string) => overrides.get(real)?.name || undefined
  const shown = new Set([...byName.keys()].map(real => newName(real) ?? real))
  const errors: string[] = []
  const warnings: string[] = []

  for (const [list, flag] of [
    [tools_filter, '--tools'],
    [tools_deny, '--tools-deny'],
  ] as const) {
    for (const name of list ?? []) {
      if (isPattern(name)) {
        if (![...shown].some(createPattern(name))) warnings.push(`${flag} ${name} matches no tool.`)
      } else if (!shown.has(name)) errors.push(unknown(name, flag, newName(name) ?? suggest(name, shown)))
    }
  }
  for (const [real, override] of overrides) {
    const tool = byName.get(real)
    if (tool) errors.push(...unknownArguments(tool, override))
    else errors.push(unknown(real, '--tools-override', suggest(real, byName.keys())))
  }
  return { errors, warnings }
}

/** Arguments that the input schema does not have; a schema that names none may take any. */
function unknownArguments(tool: ListedTool, { hidden_arguments, fixed_arguments }: Override): string[] {
  const properties = isObject(tool.inputSchema) ? tool.inputSchema.properties : undefined
  if (!isObject(properties)) return []
  return [...(hidden_arguments ?? []), ...Object.keys(fixed_arguments ?? {})]
    .filter(argument => !Object.hasOwn(properties, argument))
    .map(argument => {
      const near = suggest(argument, Object.keys(properties))
      return `The tool "${tool.name}" has no argument "${argument}" (--tools-override).${meant(near)}`
    })
}

const unknown = (name: string, flag: string, near: string | undefined): string =>
  `It has no tool "${name}" (${flag}).${meant(near)}`

const meant = (near: string | undefined): string => (near === undefined ? '' : ` Did you mean "${near}"?`)
