import { readChallenge } from './challenge.ts'
import { endpointsOf } from './configuration.ts'
import { detect } from './detect.ts'
import { discover, discoverIssuer } from './discover.ts'
import { login } from './login.ts'
import { loginAsMachine } from './machine-login.ts'
import { refresh } from './refresh.ts'
import { renewClient } from './renew-client.ts'
import { revoke } from './revoke.ts'
import type { OAuthEngine } from './types.ts'

/** Makes the OAuth client for remote MCP servers. */
export function createOAuthEngine({ clock = Date.now }: { clock?: () => number } = {}): OAuthEngine {
  return {
    detect,
    readChallenge,
    discover,
    discoverIssuer,
    login: (request, reach) => login(request, reach, clock),
    loginAsMachine: (request, reach) => loginAsMachine(request, reach, clock),
    refresh: (request, reach) => refresh(request, reach, clock),
    revoke,
    renewClient: (request, reach) => renewClient(request, endpointsOf(request.discovery, reach), clock),
  }
}
