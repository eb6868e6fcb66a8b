/** What a terminal takes for a key, such as Ctrl+C, or what turns the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
const STEERING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/g

/**
 * The command that calls a tool from a terminal. Names and arguments may be a stranger's: pasted into a shell, none
 * of them acts on the shell or the terminal.
 */
export function callCommand(workload: string, tool: string, args: unknown): string {
  const json = JSON.stringify(args).replace(
    STEERING,
    found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  const words = ['keelson', 'mcp', 'call', '--server', workload, '--args', json, '--', tool]
  return words.map(quote).join(' ')
}

/** A word that a POSIX shell passes on as it is (POSIX.1-2024, sections 2.2.2 and 2.2.4). */
function quote(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  if (word.search(STEERING) < 0) return `'${word.replaceAll("'", "'\\''")}'`
  return `$'${word.replace(/['\\]/g, '\\$&').replace(STEERING, octal)}'`
}

const octal = (text: string): string =>
  [...new TextEncoder().encode(text)].map(byte => `\\${byte.toString(8).padStart(3, '0')}`).join('')
