import { memberText, mergeRaw, omitRaw } from '../../../src/lib/raw-json.ts'

/** The extension of MCP 2026-07-28 (SEP-2663). */
const EXTENSION = 'io.modelcontextprotocol/tasks'

/**
 * Capabilities of a client or server, raw, as the other era is told of them: without the tasks of 2025-11-25 and
 * without the extension, which are not translated into each other. A server that was told of the extension could
 * respond with a task that its client cannot ask about.
 */
export function withoutTasks(capabilities: string): string {
  const rest = omitRaw(capabilities, name => name === 'tasks')
  const extensions = memberText(rest, 'extensions')
  if (!extensions?.startsWith('{')) return rest
  return mergeRaw(rest, `{"extensions":${omitRaw(extensions, name => name === EXTENSION)}}`)
}
