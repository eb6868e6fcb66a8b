import type { CallToolResult, Progress } from '@modelcontextprotocol/client'
import type { Report } from '../../src/contracts/runtime.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import type { McpSession } from './connect.ts'
import { findTool } from './find-tool.ts'
import { mirroredHeaders } from './mirrored-headers.ts'

/** What servers say of a tool that they do not have. */
const MAY_BE_UNKNOWN = /not found|unknown/i

/** Calls a tool. Where the call fails because there is no such tool, it fails with `mcp_tool_unknown`. */
export async function callTool(
  session: McpSession,
  { name, args, report }: { name: string; args: Record<string, unknown>; report: Report },
): Promise<CallToolResult> {
  const { client, options, fail } = session
  const onprogress = (progress: Progress) => report(describeProgress(progress), 'detail')
  try {
    const headers = await mirroredHeaders(session, name, args)
    const result = await client.callTool({ name, arguments: args }, { ...options, onprogress, headers })
    // Some servers report an unknown tool as a tool that failed.
    if (result.isError && MAY_BE_UNKNOWN.test(JSON.stringify(result.content)))
      await assertKnown(session, name)
    return result
  } catch (error) {
    if (!isFailure(error) && !options.signal.aborted && MAY_BE_UNKNOWN.test(messageOf(error)))
      await assertKnown(session, name)
    return fail(error, `the call of "${name}"`)
  }
}

async function assertKnown(session: McpSession, name: string): Promise<void> {
  try {
    await findTool(session, name)
  } catch (error) {
    if (isFailure(error, 'mcp_tool_unknown')) throw error
  }
}

function describeProgress({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress} of ${total}`
  return message ? `${message} (${count})` : count
}
