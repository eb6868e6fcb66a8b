/**
 * Reads the URL that a person copied from the browser after a login, or only its query. Returns what is wrong with
 * it as `problem`. Only its query is used: where it points does not matter.
 */
export function readPastedRedirect(
  text: string,
  { redirectUri, state }: { redirectUri: string; state: string },
): URL | { readonly problem: string } {
  const trimmed = text.trim()
  const query = URL.parse(trimmed)?.search ?? trimmed.replace(/^\?/, '')
  const words = new URLSearchParams(query)
  if (!words.has('code') && !words.has('error')) {
    return { problem: 'that is not the whole URL: it holds no code' }
  }
  if (words.get('state') !== state) return { problem: 'that URL belongs to another login' }
  const url = new URL(redirectUri)
  url.search = words.toString()
  return url
}
