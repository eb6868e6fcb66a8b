import { memberAt } from './member-at.ts'
import type { UpstreamTokens } from './upstream.ts'
import type { OAuth2Config } from './upstream-config.ts'

type Mapping = NonNullable<OAuth2Config['token_response_mapping']>

const LONGEST_TOKEN = 64 * 1024
const MOST_SCOPES = 1000

/**
 * Reads a token response (RFC 6749, section 5.1), or one whose members are elsewhere. What a refresh leaves out stays
 * as it was (section 6). Undefined where there is no access token.
 */
export function readTokens(
  response: Readonly<Record<string, unknown>>,
  { mapping = {}, before, now }: { mapping?: Mapping; before?: UpstreamTokens | undefined; now: number },
): UpstreamTokens | undefined {
  const text = (path: string) => {
    const value = memberAt(response, path)
    return typeof value === 'string' && value !== '' && value.length <= LONGEST_TOKEN ? value : undefined
  }
  const accessToken = text(mapping.access_token_path || 'access_token')
  if (accessToken === undefined) return undefined
  const seconds = Number(memberAt(response, mapping.expires_in_path || 'expires_in') ?? Number.NaN)
  const scope = text(mapping.scope_path || 'scope')
  return {
    accessToken,
    refreshToken: text(mapping.refresh_token_path || 'refresh_token') ?? before?.refreshToken,
    idToken: text('id_token') ?? before?.idToken,
    expiresAt: seconds > 0 && Number.isFinite(seconds) ? now + seconds * 1000 : undefined,
    scopes: scope?.split(/[ ,]+/).filter(Boolean).slice(0, MOST_SCOPES) ?? before?.scopes,
  }
}
