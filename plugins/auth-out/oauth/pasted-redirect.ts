/**
 * Reads the URL that a person copied from the browser after a login. Returns what is wrong with it as `problem`. Its
 * path must be that of this login (see `callbackPathFor`). Only a response that names its issuer may come without one.
 */
export function readPastedRedirect(
  text: string,
  { redirectUri, state }: { redirectUri: string; state: string },
): URL | { readonly problem: string } {
  const trimmed = text.trim()
  const whole = URL.parse(trimmed)
  const words = new URLSearchParams(whole?.search ?? trimmed.replace(/^\?/, ''))
  const url = new URL(redirectUri)
  if (!words.has('code') && !words.has('error')) {
    return { problem: 'that is not the whole URL: it holds no code' }
  }
  if (!whole && !words.has('iss')) return { problem: 'that is not the whole URL' }
  if (words.get('state') !== state || (whole && whole.pathname !== url.pathname)) {
    return { problem: 'that URL belongs to another login' }
  }
  url.search = words.toString()
  return url
}
