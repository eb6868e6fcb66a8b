import type { Exchange } from '../../src/contracts/pipeline.ts'
import { toFieldValue } from '../../src/net/mcp-name.ts'
import { type MirroredArgument, memberOf, mirroredText } from '../../src/net/mirrored-arguments.ts'

/**
 * Makes the headers that repeat hidden and fixed arguments (MCP 2026-07-28) say what the body says, whatever the client
 * has sent. Where nobody knows which headers these are, none is passed on.
 */
export function setMirrored(
  exchange: Exchange,
  {
    unseen,
    fixed,
    mirrored,
  }: {
    unseen: readonly string[]
    fixed: Readonly<Record<string, unknown>>
    mirrored: readonly MirroredArgument[] | undefined
  },
): void {
  if (!mirrored) {
    const sent = Object.keys(exchange.request.headers).filter(name => name.startsWith('mcp-param-'))
    for (const name of sent) exchange.setHeader(name, undefined)
  }
  for (const { header, path } of mirrored ?? []) {
    if (!unseen.includes(path[0] ?? '')) continue
    const text = mirroredText(path.reduce<unknown>(memberOf, fixed))
    exchange.setHeader(header, text === undefined ? undefined : toFieldValue(text))
  }
}
