import type { Exchange } from '../../../src/contracts/pipeline.ts'

const tokens = new WeakMap<Exchange, string>()

export function keepLoginIdToken(exchange: Exchange, token: string | undefined): void {
  if (token === undefined) tokens.delete(exchange)
  else tokens.set(exchange, token)
}

/** The ID token of the login that the request is sent with; undefined without one. It is there to be exchanged. */
export const loginIdToken = (exchange: Exchange): string | undefined => tokens.get(exchange)
