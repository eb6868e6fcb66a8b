import type { App } from '../../src/app.ts'
import type { Exchange, Handler, Middleware, ServerRefusal } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { createKeptOutcomes, type Outcome } from '../../src/lib/kept-outcomes.ts'
import type { Log } from '../../src/log.ts'
import { createExchange, type ExchangedToken } from './create-exchange.ts'
import type { ExchangeProblem } from './exchange-problem.ts'
import { readExchangeSettings } from './exchange-settings.ts'
import { createRefuse } from './refuse.ts'
import type { TokenExchangeConfig } from './section.ts'
import { chooseSubject } from './subject.ts'

/** How many exchanged tokens are held, and how many exchanges run at once. */
const LIMITS = { most: 4096, mostAtOnce: 1024 }

/** A token that is younger is not replaced, in milliseconds: a server could refuse every token. */
const REPLACE_MS = 30_000

type Result = Outcome<ExchangedToken, ExchangeProblem>

const BUSY: Result = { problem: { kind: 'away', problem: 'too many exchanges run at once' }, until: 0 }

/** What the stage before is told when the endpoint does not accept the token of its login. */
const LOGIN_REFUSED: ServerRefusal = { status: 401, wwwAuthenticate: undefined, again: false }

/** Makes the middleware. Fails where a secret or a file is missing. */
export async function createExchangeMiddleware(
  app: App,
  config: RunConfig,
  { exchange: said, log }: { exchange: TokenExchangeConfig; log: Log },
): Promise<Middleware> {
  const settings = await readExchangeSettings(app, config, said)
  const exchange = createExchange(settings)
  const kept = createKeptOutcomes<ExchangedToken, ExchangeProblem>(LIMITS)
  const subject = chooseSubject(config, said, settings.subjectType)
  const refuse = createRefuse({ log, endpoint: new URL(settings.endpoint.url).host, subject: subject.kind })
  const header = said.external_token_header_name?.toLowerCase() || 'authorization'

  const tokenFor = (token: string): Result | Promise<Result> => kept.get(token, () => exchange(token)) ?? BUSY

  /** Sets the header, or refuses the request: without the token it goes nowhere. */
  function set(
    request: Exchange,
    { token, result, next }: { token: string; result: Result; next: Handler },
  ): void | Promise<void> {
    if ('problem' in result) return refuse.problem(request, result.problem)
    // What the client has logged in with here is for nobody else.
    if (!request.ownHeaders?.has('authorization')) request.setHeader('authorization', undefined)
    request.setHeader(header, `Bearer ${result.value.token}`)
    const onRefused: Exchange['onRefused'] = ({ status, again }) =>
      status === 401 ? replace(request, { token, sent: result.value, again }) : undefined
    request.onRefused = onRefused
    return next(request)
  }

  /** The server does not accept the token, which may have been taken back: another one is tried once. */
  async function replace(
    request: Exchange,
    { token, sent, again }: { token: string; sent: ExchangedToken; again: boolean },
  ): Promise<void> {
    if (again || Date.now() - sent.issuedAt < REPLACE_MS) throw await refuse.refusedByServer(request)
    const known = await tokenFor(token)
    if ('value' in known && known.value.token === sent.token) kept.forget(token)
    const result = await tokenFor(token)
    if ('problem' in result) throw await refuse.refusedByServer(request)
    request.setHeader(header, `Bearer ${result.value.token}`)
  }

  /** The token of a login that has ended: the stage before gets another one, which is exchanged instead. */
  async function withRenewedLogin(
    request: Exchange,
    { token, result, next }: { token: string; result: Result; next: Handler },
  ): Promise<void> {
    await request.onRefused?.(LOGIN_REFUSED)
    const renewed = subject.tokenOf(request)
    if (renewed === undefined || renewed === token) return set(request, { token, result, next })
    return set(request, { token: renewed, result: await tokenFor(renewed), next })
  }

  function proceed(request: Exchange, found: { token: string; result: Result; next: Handler }) {
    const isLoginOver =
      subject.kind === 'login' && 'problem' in found.result && found.result.problem.kind === 'token'
    return isLoginOver ? withRenewedLogin(request, found) : set(request, found)
  }

  return {
    name: 'token-exchange',
    stage: 'exchange',
    summary: `token of the ${subject.kind} becomes one of ${new URL(settings.endpoint.url).host}`,
    wrap: next => request => {
      const token = subject.tokenOf(request)
      if (token === undefined) return refuse.noSubject(request)
      const result = tokenFor(token)
      return result instanceof Promise
        ? result.then(found => proceed(request, { token, result: found, next }))
        : proceed(request, { token, result, next })
    },
  }
}
