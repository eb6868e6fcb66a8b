import type { Exchange } from '../../src/contracts/pipeline.ts'

const tokens = new WeakMap<Exchange, string>()

/** Keeps the token of a caller for the stages that exchange it; nothing else gets it. */
export function keepCallerToken(exchange: Exchange, token: string): void {
  tokens.set(exchange, token)
}

/** The token that the caller of an exchange was accepted with; undefined where nobody has to log in. */
export const callerToken = (exchange: Exchange): string | undefined => tokens.get(exchange)
