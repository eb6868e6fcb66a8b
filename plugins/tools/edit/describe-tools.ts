import type { ListedTool } from '../../../src/contracts/pipeline.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { createSelection, type Settings } from '../selection.ts'

/** A tool of a server, and what clients see of it. */
export interface DescribedTool {
  /** The name that the server gives it. */
  readonly name: string
  /** The name that clients see; absent where they do not. */
  readonly shown_as?: string
  readonly hidden_because?: string
  /** What its annotations say of it, if they do. */
  readonly read_only?: boolean
}

export function describeTools(settings: Settings, tools: readonly ListedTool[]): DescribedTool[] {
  const selection = createSelection(settings)
  return tools.map(({ name, annotations }) => {
    const hint = isObject(annotations) ? annotations.readOnlyHint : undefined
    const read_only = typeof hint === 'boolean' ? { read_only: hint } : {}
    const unread = selection?.readOnly && hint !== true ? 'not read-only' : undefined
    const hidden = selection?.hiddenBecause(name) ?? unread
    if (hidden !== undefined) return { name, hidden_because: hidden, ...read_only }
    return { name, shown_as: selection?.shownName(name) ?? name, ...read_only }
  })
}
