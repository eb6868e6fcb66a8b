import type { HmacSecrets } from '../keys/hmac-secrets.ts'
import type { Route } from '../protocol/route.ts'
import type { Store } from '../storage/store.ts'
import { beginLogin } from './begin-login.ts'
import { callbackPath } from './callback-path.ts'
import { askForConsent, takeConsent } from './consent.ts'
import { createConsents } from './consents.ts'
import { finishLogin } from './finish-login.ts'
import { createLoginCookies } from './login-cookies.ts'
import type { LoginParts } from './login-parts.ts'
import { createPendingLogins } from './pending-logins.ts'

/** The paths of a login, from the client to the providers and back. People open them in a browser. */
export function createLoginRoutes({
  store,
  secrets,
  now,
  ...parts
}: Omit<LoginParts, 'cookies' | 'pending' | 'consents'> & {
  store: Store
  secrets: HmacSecrets
  now: () => number
}): [string, Route][] {
  const login: LoginParts = {
    ...parts,
    cookies: createLoginCookies({ pageBase: parts.settings.pageBase, secrets, now }),
    pending: createPendingLogins(store),
    consents: createConsents(store),
  }
  return [
    ['/oauth/authorize', { GET: (request, signal) => beginLogin(login, request, signal) }],
    ...parts.upstreams.map(({ name }, index): [string, Route] => [
      callbackPath(index, name),
      { GET: (request, signal) => finishLogin(login, request, { index, signal }) },
    ]),
    [
      '/oauth/consent',
      { GET: request => askForConsent(login, request), POST: request => takeConsent(login, request) },
    ],
  ]
}
