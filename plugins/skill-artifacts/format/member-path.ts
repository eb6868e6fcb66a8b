const NAME_BYTES = 255
const PATH_BYTES = 1024

/** Characters that are invisible or control a terminal. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** Makes a text of others safe to show: at most 200 characters, with invisible ones written as `\u{…}`. */
export const printable = (text: string): string =>
  text
    .slice(0, 200)
    .replace(new RegExp(UNSEEN, 'gu'), char => `\\u{${char.codePointAt(0)?.toString(16) ?? ''}}`)

/**
 * Returns why a path inside a skill (relative, with slashes) is refused; undefined when it is allowed.
 *
 * It refuses paths that lead out of the folder and paths that differ on another file system: a skill made
 * on Linux must have the same files on Windows and macOS. It refuses `.git` too, because Git would run
 * the hooks and read the configuration in the folder of the installed skill.
 */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'it is empty'
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'it is absolute'
  if (path.includes('\\')) return 'it has a backslash'
  if (UNSEEN.test(path)) return 'it has control characters or invisible ones'
  if (!path.isWellFormed() || path.includes('\ufffd')) return 'it is not UTF-8'
  if (Buffer.byteLength(path) > PATH_BYTES) return `it is longer than ${PATH_BYTES} bytes`
  for (const name of path.split('/')) {
    if (name === '') return 'a part of it is empty'
    if (name === '.' || name === '..') return `it has the part "${name}"`
    if (Buffer.byteLength(name) > NAME_BYTES) return `a part of it is longer than ${NAME_BYTES} bytes`
    // Windows drops dots and spaces at the end, and git~1 is its short name of .git.
    if (/^(?:\.git|git~1)$/i.test(name.replace(/[. ]+$/, ''))) return 'it belongs to a git repository'
  }
  return undefined
}

/** Returns the form in which a file system that ignores case and Unicode composition compares paths. */
const folded = (path: string): string => path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC')

/**
 * Finds paths that are equal on some file system. `add` returns the earlier path that collides with the
 * added one, or undefined. The parent folders of a path are added with it.
 */
export function createCollisionCheck(): { add(path: string, kind: 'file' | 'folder'): string | undefined } {
  const seen = new Map<string, { path: string; kind: 'file' | 'folder' }>()
  const addOne = (path: string, kind: 'file' | 'folder'): string | undefined => {
    const key = folded(path)
    const before = seen.get(key)
    if (!before) seen.set(key, { path, kind })
    const isSameFolder = before?.path === path && before.kind === 'folder' && kind === 'folder'
    return before && !isSameFolder ? before.path : undefined
  }
  return {
    add(path, kind) {
      const parts = path.split('/')
      for (let length = 1; length < parts.length; length++) {
        const collision = addOne(parts.slice(0, length).join('/'), 'folder')
        if (collision !== undefined) return collision
      }
      return addOne(path, kind)
    },
  }
}
