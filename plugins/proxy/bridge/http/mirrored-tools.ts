import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { fromFieldValue } from '../../../../src/net/mcp-name.ts'
import {
  type MirroredArgument,
  mirroredArguments,
  mirroredText,
} from '../../../../src/net/mirrored-arguments.ts'
import { param, type Request } from '../../../../src/net/rpc-message.ts'
import { type AskOwn, listTools } from '../../own/list-tools.ts'
import { headerMismatch, repeating } from './check-modern-request.ts'

/** Compares the headers `Mcp-Param-*` of calls with their arguments. */
export interface MirroredTools {
  /** Refuses a call whose headers do not repeat the arguments that its tool says they repeat. */
  check(exchange: Exchange, message: Request): Promise<void>
}

/** After this time the list is read again, while the one before still counts. */
const FRESH_MS = 60_000

/**
 * Only the list of tools says which arguments have headers. It is asked for at the first call, and again before a call
 * is refused, because the server may have changed its tools. A server that lists no tools has no such headers.
 */
export function createMirroredTools(ask: AskOwn, now: () => number): MirroredTools {
  let byTool: ReadonlyMap<string, readonly MirroredArgument[]> | undefined
  let reading: Promise<void> | undefined
  let readAt = 0

  async function read(): Promise<void> {
    readAt = now()
    const tools = await listTools(ask).catch(() => undefined)
    const found = tools?.map(({ name, inputSchema }) => [name, mirroredArguments(inputSchema)] as const)
    byTool = new Map(found?.filter(([, mirrored]) => mirrored.length > 0))
  }

  function readAgain(): Promise<void> {
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }

  function findProblem(exchange: Exchange, message: Request): string | undefined {
    for (const { header, path } of byTool?.get(String(param(message, 'name'))) ?? []) {
      const value = param(message, 'arguments', ...path)
      const text = mirroredText(value)
      const inHeader = repeating(exchange, header)
      // A header without its argument says nothing (MCP 2026-07-28, server behavior for custom headers).
      if (text === undefined || inHeader === 'written') continue
      if (inHeader === undefined) return `${header} is missing`
      const said = fromFieldValue(inHeader)
      const isSame = typeof value === 'number' ? isNumber(said, value) : said === text
      if (!isSame) return `${header} is not the argument ${path.join('.')}`
    }
    return undefined
  }

  return {
    async check(exchange, message) {
      if (message.method !== 'tools/call') return
      if (byTool === undefined) await readAgain()
      else if (now() - readAt > FRESH_MS) void readAgain()
      if (findProblem(exchange, message) === undefined) return
      await readAgain()
      const problem = findProblem(exchange, message)
      if (problem !== undefined) throw headerMismatch(message, problem)
    },
  }
}

const isNumber = (text: string | undefined, value: number): boolean =>
  text !== undefined && /^-?\d+(\.\d+)?$/.test(text) && Number(text) === value
