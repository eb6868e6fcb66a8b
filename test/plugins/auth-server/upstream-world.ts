import { createMemoryStore } from '../../../plugins/auth-server/storage/memory-store.ts'
import { sealStore } from '../../../plugins/auth-server/storage/sealed-store.ts'
import { openUpstream } from '../../../plugins/auth-server/upstream/open-upstream.ts'
import type { Upstream } from '../../../plugins/auth-server/upstream/upstream.ts'

/** Nobody listens there: tests read the URL that a person would come back to. */
export const REDIRECT_URI = 'http://127.0.0.1:1/callback'
export const { signal } = new AbortController()

/** Opens an upstream provider with a store of its own. */
export const upstreamOf = (
  config: Parameters<typeof openUpstream>[0],
  options: Partial<Parameters<typeof openUpstream>[1]> = {},
): Promise<Upstream> =>
  openUpstream(config, {
    redirectUri: REDIRECT_URI,
    store: sealStore(createMemoryStore(), ['secret']),
    env: {},
    ...options,
  })

/** Begins a login, lets the person go through it, and returns what `finish` takes. */
export async function beginLogin(upstream: Upstream, visit: (url: string) => Promise<string>) {
  const begun = await upstream.authorizationUrl({ redirectUri: REDIRECT_URI, state: 'state-1', signal })
  const callback = new URL(await visit(begun.url))
  return { url: new URL(begun.url), callback, redirectUri: REDIRECT_URI, checks: begun.checks, signal }
}
