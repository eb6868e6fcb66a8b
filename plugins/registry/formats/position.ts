import { findNodeAtLocation, parseTree } from 'jsonc-parser'

type Path = (string | number)[]

/** Reads typanion's way of naming a member: `.a[0]["x-y"].b`. */
export function parsePath(text: string): Path {
  return [...text.matchAll(/\.([A-Za-z_]\w*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)].map(
    ([, member, index, quoted]) =>
      member ?? (index === undefined ? (JSON.parse(quoted ?? '""') as string) : Number(index)),
  )
}

export const formatPath = (path: Path): string =>
  path
    .map(part => (typeof part === 'number' ? `[${part}]` : /^\w+$/.test(part) ? `.${part}` : `["${part}"]`))
    .join('')
    .replace(/^\./, '')

/** Finds members in a text: line and column as an editor counts. What is missing stands where its parent is. */
export function createLocator(text: string): (path: Path) => string {
  const root = parseTree(text)
  return path => {
    for (let end = path.length; root && end >= 0; end--) {
      const node = findNodeAtLocation(root, path.slice(0, end))
      if (!node) continue
      const before = text.slice(0, node.offset).split('\n')
      return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
    }
    return 'line 1, column 1'
  }
}
