/**
 * Why a URL cannot be a client ID (draft-ietf-oauth-client-id-metadata-document section 2); undefined for one that
 * can.
 */
export function clientIdUrlProblem(text: string): string | undefined {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') return 'it is not an https URL'
  if (url.username || url.password) return 'it holds a user name or password'
  if (url.hash || text.includes('#')) return 'it has a fragment'
  if (url.pathname === '/') return 'it has no path'
  if (url.href !== text) return `a server would read it as ${url.href}`
  return undefined
}
