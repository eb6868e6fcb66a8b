/** The page at the end of a login, for the person in front of the browser. It loads nothing and runs nothing. */
export function callbackPage(problem: string | undefined): string {
  const title = problem === undefined ? 'You are logged in' : 'The login did not work'
  const text = problem === undefined ? '' : `<p>${escapeHtml(problem)}</p>\n`
  const next =
    problem === undefined
      ? 'You can close this window and go back to where you started the login. keelson continues automatically.'
      : 'You can close this window. What to do next is said where you started the login.'
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>keelson: ${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:4em auto;padding:0 1em}</style>
<h1>${title}</h1>
${text}<p>${next}</p>
</html>
`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, char => ENTITIES[char] ?? '')
