import { readUserFile } from '../../src/user-file.ts'
import { type ExchangeProblem, toOwnProblem } from './exchange-problem.ts'
import type { ExchangeSettings } from './exchange-settings.ts'
import { type IssuedToken, readToken } from './read-issued.ts'
import { requestToken } from './request-token.ts'
import { TOKEN_TYPES } from './token-types.ts'

/** The token of who acts for the subject (RFC 8693, section 2.1). */
export interface ActorToken {
  readonly token: string
  readonly type: string
}

/** What may stand in a form as a token; a file may hold anything. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/

/** Makes the source of the actor's token; undefined where nobody acts for the subject. */
export function createActorTokens(
  { actor, endpoint, scope }: ExchangeSettings,
  now: () => number,
): (() => Promise<ActorToken | ExchangeProblem>) | undefined {
  if (!actor) return undefined
  if (actor.kind === 'file') return () => readActor(actor.path, actor.type)
  let held: { readonly token: string; readonly until: number } | undefined
  return async () => {
    const type = TOKEN_TYPES.access_token
    if (held && held.until > now()) return { token: held.token, type }
    const asked = now()
    const response = await requestToken(endpoint, { grant_type: 'client_credentials', scope })
    if (response.kind !== 'issued') return toOwnProblem(response)
    const issued = readToken(response.values)
    if ('problem' in issued) return { kind: 'broken', problem: `of the actor: ${issued.problem}` }
    held = { token: issued.token, until: asked + halfLife(issued) }
    return { token: issued.token, type }
  }
}

/** An actor's token has to outlive the exchange only. */
const halfLife = ({ seconds = 0 }: IssuedToken): number => (seconds * 1000) / 2

/** Read for each exchange: something else writes the file anew before the token expires. */
async function readActor(path: string, type: string): Promise<ActorToken | ExchangeProblem> {
  const text = await readUserFile(path, 'The actor token file', { pipes: false }).catch(() => undefined)
  const token = text?.trim() ?? ''
  if (TOKEN.test(token)) return { token, type }
  const problem = text === undefined ? 'cannot be read' : 'holds no token: one line of visible characters'
  return { kind: 'broken', problem: `the file with the actor's token ${problem}` }
}
