import { homedir } from 'node:os'
import { join } from 'node:path'
import { readFileIfThere } from './atomic-file.ts'

/** The entries of the user's netrc for these hosts; an entry for any host (`default`) is left out. */
export async function netrcFor(
  hosts: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const path = env.NETRC || join(env.HOME || homedir(), '.netrc')
  const text = await readFileIfThere(path).catch(() => undefined)
  const words = (text ?? '')
    .replace(/^\s*#.*$/gm, '')
    .split(/\s+/)
    .filter(Boolean)
  const entries: Record<string, string>[] = []
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    if (word === 'default') entries.push({})
    else if (word === 'machine') entries.push({ machine: words[++i] ?? '' })
    else if (/^(?:login|password|account)$/.test(word))
      Object.assign(entries.at(-1) ?? {}, { [word]: words[++i] })
  }
  return entries
    .filter(({ machine }) => machine !== undefined && hosts.includes(machine))
    .map(entry => `${Object.entries(entry).flat().join(' ')}\n`)
    .join('')
}
