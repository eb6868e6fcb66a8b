import { isUrl } from '../clients/document-url.ts'
import { isPrivateUse, placeOf } from '../clients/redirect-uri.ts'
import type { Reply } from '../protocol/reply.ts'
import { html } from './html.ts'
import { pageReply } from './page.ts'

/** What a person is asked. Everything in it may come from strangers. */
export interface ConsentQuestion {
  readonly clientId: string
  readonly clientName: string | undefined
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly audience: string
  readonly person: string
  /** How long the client can act without asking again, in days; undefined: only until its token expires. */
  readonly days: number | undefined
  readonly request: string
  readonly token: string
}

const MEANINGS: Readonly<Record<string, string>> = {
  openid: 'know which account you logged in with',
  profile: 'see your name',
  email: 'see your e-mail address',
  offline_access: 'stay logged in while you are away',
}

/** Asks a person whether a program may act for them. `action`: where the form goes. */
export function consentPage(question: ConsentQuestion, action: string): Reply {
  const { clientId, clientName, redirectUri, scopes, audience, person, days, request, token } = question
  const lasts = days === undefined ? 'until its token expires' : `until it stays unused for ${days} days`
  const content = html`<p>A program wants to use this server as you.</p>
<dl>
<dt>It calls itself</dt><dd>${clientName ?? 'It gives no name.'}</dd>
${isUrl(clientId) ? html`<dt>It is described at</dt><dd>${new URL(clientId).host}</dd>\n` : ''}<dt>Your answer goes to</dt><dd>${placeOf(redirectUri)}</dd>
<dt>Server</dt><dd>${audience}</dd>
<dt>You are logged in as</dt><dd>${person}</dd>
<dt>It may</dt><dd><ul>
<li>call this server and all its tools in your name</li>
${scopes.map(scope => html`<li>${MEANINGS[scope] ?? `use the scope ${scope}`}</li>\n`)}</ul></dd>
<dt>How long</dt><dd>${lasts}</dd>
</dl>
${isPrivateUse(redirectUri) ? html`<p class="note">Any program on this computer can claim such links. Refuse if you do not know which one does.</p>\n` : ''}<p class="note">The program registered itself and nobody has checked its name. Refuse if you did not just start a login in it.</p>
<form method="post" action="${action}">
<input type="hidden" name="request" value="${request}">
<input type="hidden" name="token" value="${token}">
<button class="main" name="decision" value="allow">Allow</button>
<button name="decision" value="refuse">Refuse</button>
</form>`
  return pageReply(200, { title: 'Allow this program?', content, formTargets: [formTarget(redirectUri)] })
}

/** Other schemes than those of the web have no origin. */
function formTarget(redirectUri: string): string {
  const { origin, protocol } = new URL(redirectUri)
  return isPrivateUse(redirectUri) ? protocol : origin
}
