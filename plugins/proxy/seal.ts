import type { Exchange, Middleware } from '../../src/contracts/pipeline.ts'
import { NAMED_BY, toFieldValue } from '../../src/net/mcp-name.ts'
import { sealExchange } from './exchange.ts'
import { hasBody } from './request-body.ts'

/**
 * The outermost of the stage `authorize`: what is judged is what is sent. `isJudged`: something judges messages there,
 * so that their headers (MCP 2026-07-28), which a server may go by, have to say what the body says.
 */
export const createSeal = ({ isJudged }: { isJudged: boolean }): Middleware => ({
  name: 'seal',
  stage: 'authorize',
  wrap: next => {
    const sealed = (exchange: Exchange) => {
      sealExchange(exchange)
      return next(exchange)
    }
    return exchange =>
      isJudged && saysMessage(exchange)
        ? repeatInHeaders(exchange).then(() => sealed(exchange))
        : sealed(exchange)
  },
})

const saysMessage = ({ request }: Exchange): boolean =>
  (request.headers['mcp-method'] !== undefined || request.headers['mcp-name'] !== undefined) &&
  hasBody(request)

async function repeatInHeaders(exchange: Exchange): Promise<void> {
  const { headers } = exchange.request
  const message = await exchange.message()
  const { method = undefined, params = undefined } = message && 'method' in message ? message : {}
  if (headers['mcp-method'] !== undefined) exchange.setHeader('mcp-method', method && toFieldValue(method))
  if (headers['mcp-name'] === undefined) return
  const named = params?.[NAMED_BY.get(method ?? '') ?? '']
  exchange.setHeader('mcp-name', typeof named === 'string' ? toFieldValue(named) : undefined)
}
