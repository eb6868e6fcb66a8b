/**
 * What makes a terminal put a text on the clipboard of the machine that it is on, also through ssh: the sequence OSC 52
 * of xterm. Terminals that do not know it ignore it.
 */
export const toClipboard = (text: string): string =>
  `\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`

/** What clients of the common form take. */
export const clientSnippet = ({ name, url }: { name: string; url: string }): string =>
  JSON.stringify({ mcpServers: { [name]: { url } } }, null, 2)
