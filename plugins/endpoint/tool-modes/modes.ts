/**
 * What clients get of the tools. `all`: their definitions. `names`: each with one line and an open schema, and
 * `describe_tool`. `search`: `find_tools`, `describe_tool` and `call_tool` in their place.
 */
export const TOOL_MODES = ['all', 'names', 'search'] as const
export type ToolMode = (typeof TOOL_MODES)[number]
