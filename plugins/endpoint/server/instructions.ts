import { memberValue } from '../../../src/lib/raw-json.ts'
import type { MemberSession } from './member-session.ts'

/** How long the first response waits for the instructions of servers, in milliseconds. */
const PATIENCE_MS = 2000

/** The instructions of all servers that respond soon, each under the name of its server; undefined without any. */
export async function instructionsOf(sessions: readonly MemberSession[]): Promise<string | undefined> {
  const late = new Promise<undefined>(resolve => setTimeout(resolve, PATIENCE_MS, undefined).unref())
  const parts = await Promise.all(
    sessions.map(async ({ server, opened }) => {
      const result = await Promise.race([opened().catch(() => undefined), late])
      const text = result === undefined ? undefined : memberValue(result, 'instructions')
      return typeof text === 'string' && text.trim() !== '' ? `# ${server}\n\n${text.trim()}` : undefined
    }),
  )
  return parts.filter(part => part !== undefined).join('\n\n') || undefined
}
