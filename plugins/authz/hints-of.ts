import { isObject } from '../../src/lib/is-object.ts'
import { HINTS, type ToolHints } from './decider.ts'

/** The annotations of a tool that policies may look at, where they are what MCP says. */
export const hintsOf = (annotations: unknown): ToolHints =>
  isObject(annotations)
    ? Object.fromEntries(
        HINTS.flatMap(hint => (typeof annotations[hint] === 'boolean' ? [[hint, annotations[hint]]] : [])),
      )
    : {}
