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
  /**
   * Gives up the calls under way that started at this time or later, instead of waiting for the SDK's minute. They
   * count as nothing.
   */
  giveUp(since: number): void
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
  const underWay = new Map<AbortController, number>()

  async function session(first: number): Promise<void> {
    let client: Awaited<ReturnType<typeof clientV1>> | undefined
    for (let n = first; !stopped; n += sessions) {
      const startedAt = Date.now()
      const call = new AbortController()
      underWay.set(call, startedAt)
      try {
        client ??= await clientV1(url, () => {}, { closes: false })
        const { signal } = call
        const request = { name: tool.name, arguments: tool.args(n) }
        const text = textOf(await client.callTool(request, undefined, { signal }))
        if (text === tool.right(n)) counts.answers++
        else counts.wrong++
      } catch (error) {
        if (!call.signal.aborted) {
          if ((error as { code?: number }).code === ErrorCode.RequestTimeout) lost.push(startedAt)
          else counts.failed++
        }
        await client?.close().catch(() => undefined)
        client = undefined
        await new Promise(resolve => setTimeout(resolve, 50)) // a server that is away is not asked in a busy loop
      } finally {
        underWay.delete(call)
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
    giveUp(since) {
      for (const [call, startedAt] of underWay) if (startedAt >= since) call.abort()
    },
    async stop() {
      stopped = true
      await all
    },
  }
}
