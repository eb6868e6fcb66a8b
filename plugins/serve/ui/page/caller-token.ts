const KEY = 'keelson-caller-token'
const IN_ADDRESS = /^#token=([\w-]+)$/

/**
 * The token that `keelson serve` put behind the address, or that this tab was given before. It is taken out of
 * the address, where a history or a look over the shoulder would find it, and is gone with the tab.
 */
export function findCallerToken(): string | undefined {
  const [, given] = IN_ADDRESS.exec(location.hash) ?? []
  if (given === undefined) return sessionStorage.getItem(KEY) ?? undefined
  history.replaceState(null, '', location.pathname)
  keepCallerToken(given)
  return given
}

export function keepCallerToken(token: string): void {
  sessionStorage.setItem(KEY, token)
}
