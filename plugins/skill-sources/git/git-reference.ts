import { isIP } from 'node:net'
import { failures } from '../failures.ts'

/** A folder of a git repository, at a branch, a tag or a commit. */
export interface GitReference {
  /** The host in lower case, with its port if one was given. */
  readonly host: string
  /** `owner/repo`; some hosts have more levels. */
  readonly repository: string
  /** A branch, a tag or a commit; undefined: the default branch. */
  readonly ref?: string
  /** The folder of SKILL.md; undefined: the top folder. */
  readonly path?: string
}

const FORM = 'git://host/owner/repo[@ref][#folder]'
const LONGEST = 512

/**
 * Parses `git://host/owner/repo[@ref][#folder]`, or the same with `https://` or `http://`; all three are
 * fetched over https. The first `#` begins the folder, the first `@` before it the ref. Fails with
 * `skill_reference_invalid`.
 */
export function parseGitReference(text: string): GitReference {
  const fail = (problem: string) =>
    failures.skill_reference_invalid({ reference: withoutUser(text), problem })
  if (text.length > LONGEST) throw fail(`it is longer than ${LONGEST} characters`)
  const [, rest = ''] = /^(?:git|https?):\/\/(.*)$/is.exec(text) ?? []
  const [address = '', path] = splitAt(rest, '#')
  const [hostAndRepository = '', ref] = splitAt(address, '@')
  const [hostText = '', repositoryText = ''] = splitAt(hostAndRepository, '/')
  if (ref?.includes(':') || (!repositoryText && ref !== undefined)) {
    throw fail('user names and passwords do not belong into it')
  }
  const host = parseHost(hostText)
  if (!host) throw fail(`it does not have the form ${FORM}`)
  const repository = repositoryText.replace(/\/$/, '')
  const segments = repository.split('/')
  if (segments.length < 2 || !segments.every(segment => /^[A-Za-z0-9_~.][A-Za-z0-9_~.-]*$/.test(segment))) {
    throw fail(`it does not have the form ${FORM}`)
  }
  if (segments.some(segment => /^\.+$/.test(segment)))
    throw fail('its repository has a part that is only dots')
  if (ref !== undefined && !isRef(ref)) throw fail(`"${ref}" cannot be a branch, tag or commit`)
  const folder = path === undefined ? undefined : parseFolder(path, fail)
  return {
    host,
    repository,
    ...(ref === undefined ? {} : { ref }),
    ...(folder ? { path: folder } : {}),
  }
}

/** Formats a reference so that `parseGitReference` reads it. */
export const toGitText = ({ host, repository, ref, path }: GitReference): string =>
  `git://${host}/${repository}${ref === undefined ? '' : `@${ref}`}${path === undefined ? '' : `#${path}`}`

/** Whether a ref is the full hash of a commit (SHA-1 or SHA-256). */
export const isCommit = (ref: string): boolean => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref)

/** Returns a reference for messages, without a user name and password. */
export const withoutUser = (text: string): string => text.replace(/:\/\/[^/#]*@/, '://…@')

function splitAt(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** Normalizes a host as URLs do: `127.1` and `0x7f000001` become 127.0.0.1, names lower-case ASCII. */
function parseHost(text: string): string | undefined {
  if (!/^(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?$/.test(text)) return undefined
  const url = URL.parse(`https://${text}`)
  if (url?.pathname !== '/') return undefined
  const name = url.hostname.replace(/\.$/, '')
  const isAddress = isIP(name.replace(/^\[|\]$/g, '')) > 0
  const isName = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/.test(name)
  return isAddress || isName ? `${name}${url.port ? `:${url.port}` : ''}` : undefined
}

/** Whether a ref has only letters, digits and `. - _ /`, and is not an option, a range or a lock (git-check-ref-format(1)). */
function isRef(ref: string): boolean {
  return (
    /^[A-Za-z0-9_][A-Za-z0-9._/-]*$/.test(ref) &&
    !/\.\.|\/\/|\/\.|\.lock(?:\/|$)/.test(ref) &&
    !/[/.]$/.test(ref)
  )
}

function parseFolder(path: string, fail: (problem: string) => Error): string {
  if (/[\\\s\p{C}]/u.test(path)) throw fail('its folder has blanks, backslashes or control characters')
  if (path.startsWith('/')) throw fail('its folder must be relative')
  const parts = path.split('/').filter(part => part !== '' && part !== '.')
  if (parts.includes('..')) throw fail('its folder leads out of the repository')
  if (parts.some(part => part.toLowerCase() === '.git')) throw fail('its folder is inside .git')
  return parts.join('/')
}
