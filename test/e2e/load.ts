import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import { clientV1, textOf } from './clients.ts'

/** Clients that call tools without a pause, each in a session of its own. */
export interface Load {
  /** Answers so far. */
  readonly answers: number
  /** Answers that were not those of the request; must stay 0 whatever happens. */
  readonly wrong: number
  /**
   * When each call started that got neither an answer nor an error within the SDK's minute, in milliseconds of the
   * clock. The SDK's client waits in vain for a call whose event stream broke when the supervisor was killed; nothing
   * else may lose a call.
   */
  readonly lost: readonly number[]
  /** Calls that failed at once, as a server that is away lets them. */
  readonly failed: number
  stop(): Promise<void>
}

/** `call` answers a tool's text for a number, `right` what it must be. Who is thrown out connects again. */
export function startLoad(
  url: string,
  sessions: number,
  tool: { name: string; args(n: number): Record<string, unknown>; right(n: number): string },
): Load {
  let stopped = false
  const counts = { answers: 0, wrong: 0, failed: 0 }
  const lost: number[] = []

  async function session(first: number): Promise<void> {
    let client: Awaited<ReturnType<typeof clientV1>> | undefined
    for (let n = first; !stopped; n += sessions) {
      const startedAt = Date.now()
      try {
        client ??= await clientV1(url, () => {}, { closes: false })
        const text = textOf(await client.callTool({ name: tool.name, arguments: tool.args(n) }))
        if (text === tool.right(n)) counts.answers++
        else counts.wrong++
      } catch (error) {
        if ((error as { code?: number }).code === ErrorCode.RequestTimeout) lost.push(startedAt)
        else counts.failed++
        await client?.close().catch(() => undefined)
        client = undefined
        await new Promise(resolve => setTimeout(resolve, 50)) // a server that is away is not asked in a busy loop
      }
    }
    await client?.close().catch(() => undefined)
  }
  const all = Promise.all(Array.from({ length: sessions }, (_, first) => session(first)))
  return {
    get answers() {
      return counts.answers
    },
    get wrong() {
      return counts.wrong
    },
    get lost() {
      return lost
    },
    get failed() {
      return counts.failed
    },
    async stop() {
      stopped = true
      await all
    },
  }
}
