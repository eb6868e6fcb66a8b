import { gzipSync } from 'node:zlib'
import { Header } from 'tar'

/** What lies at a path in an archive: a file's text, or a link to somewhere. */
export type Content = string | { readonly symbolic: string } | { readonly hard: string }

/** A `.tgz` with exactly these entries. Paths and targets of links are written as they are, `../` too. */
export function tarball(entries: Readonly<Record<string, Content>>): Buffer {
  const blocks = Object.entries(entries).map(([path, content]) => {
    const data = Buffer.from(typeof content === 'string' ? content : '')
    const header = new Header({
      path,
      mode: 0o755,
      size: data.length,
      mtime: new Date(0),
      ...kindOf(content),
    })
    const block = Buffer.alloc(512)
    header.encode(block)
    return Buffer.concat([block, data, Buffer.alloc((512 - (data.length % 512)) % 512)])
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

function kindOf(content: Content) {
  if (typeof content === 'string') return { type: 'File' as const }
  return 'symbolic' in content
    ? { type: 'SymbolicLink' as const, linkpath: content.symbolic }
    : { type: 'Link' as const, linkpath: content.hard }
}
