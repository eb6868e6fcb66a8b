import { setTimeout as delay } from 'node:timers/promises'
import { startProgram } from './keelson-program.ts'
import { createMcpClient, Refused } from './mcp-requests.ts'

// The client under test of the official suite: the program in front of the server that the suite names, and an MCP
// client that lists and calls tools through it. When the program cannot go on, the user logs in again.

/** A server that goes on refusing after this many logins will not be satisfied by another one. */
const MOST_LOGINS = 3
/** How long the program may take to notice a login, in milliseconds. */
const NOTICED_MS = 10_000
/** Scenarios in which the server wants more later, so that somebody has to log in again. */
const AGAIN = /scope-step-up|scope-retry-limit|authorization-server-migration/

const target = process.argv.at(-1) ?? ''
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Record<string, string>
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? '2025-11-25'
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ''

const kept = AGAIN.test(scenario)
const client = { id: context.client_id, secret: context.client_secret }
const program = await startProgram(target, { kept, client })
let logins = 1
let loggedInAt = 0

async function withLogin<T>(action: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await action()
    } catch (error) {
      if (!(error instanceof Refused) || !kept) throw error
      if (error.status === 503 && Date.now() - loggedInAt < NOTICED_MS) {
        await delay(500) // as Retry-After asks for
        continue
      }
      if (++logins > MOST_LOGINS) throw error
      await program.logInAgain()
      loggedInAt = Date.now()
    }
  }
}

try {
  const mcp = createMcpClient(program.url, version, () => undefined)
  await withLogin(() => mcp.open())
  const tools = await withLogin(() => mcp.tools())
  for (const { name } of tools) await withLogin(() => mcp.call(name))
} finally {
  await program.close()
}
