const NAME_BYTES = 255
const PATH_BYTES = 1024

/** Characters that nobody sees, or that steer a terminal. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** A foreign text as it may be shown: what cannot be seen is written out. */
export const printable = (text: string): string =>
  text
    .slice(0, 200)
    .replace(new RegExp(UNSEEN, 'gu'), char => `\\u{${char.codePointAt(0)?.toString(16) ?? ''}}`)

/**
 * Why a path inside a skill (relative, with slashes) is refused; undefined: it is fine.
 *
 * What would leave the folder is refused, and what is a different path on another file system: a skill
 * made on Linux must not turn into something else on Windows or macOS. So is `.git`, whose
 * configuration and hooks would run in whatever folder the skill is put.
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
    // Windows drops dots and spaces at the end, and knows .git by a short name too.
    if (/^(?:\.git|git~1)$/i.test(name.replace(/[. ]+$/, ''))) return 'it belongs to a git repository'
  }
  return undefined
}

/** The form in which a file system that ignores case and composition sees a path. */
const folded = (path: string): string => path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC')

/**
 * Notices paths that are one and the same on some file system. `add` answers the path that was there
 * before, or undefined. The folders in which a file lies count as added with it.
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
