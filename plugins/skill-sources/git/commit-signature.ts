/** The signature in a commit, and the bytes that it signs: the commit without the signature. */
export interface CommitSignature {
  /** CMS (RFC 5652) as gitsign writes it. PGP and SSH signatures name no holder and count as unsigned. */
  readonly kind: 'cms' | 'key'
  readonly signature: Buffer
  readonly content: Buffer
}

/** The header `gpgsig`, or `gpgsig-sha256` in repositories with both hashes, with its continuation lines. */
const HEADER = /^gpgsig(?:-sha256)? [^\n]*\n(?: [^\n]*\n)*/gm

/** Returns the signature of a commit object (gitformat-signature(5)); undefined when it has none. */
export function findSignature(commit: Buffer): CommitSignature | undefined {
  // Latin-1 gives one character for each byte, so that positions in the text are positions of bytes.
  const text = commit.toString('latin1')
  const end = text.indexOf('\n\n') + 1
  const headers = text.slice(0, end)
  const [first] = headers.match(HEADER) ?? []
  if (first === undefined) return undefined
  const armoured = first.slice(first.indexOf(' ') + 1).replace(/\n /g, '\n')
  const cms = /^-----BEGIN SIGNED MESSAGE-----\n([A-Za-z0-9+/=\n]+)-----END SIGNED MESSAGE-----\n*$/.exec(
    armoured,
  )
  const content = Buffer.from(headers.replace(HEADER, '') + text.slice(end), 'latin1')
  return cms
    ? { kind: 'cms', signature: Buffer.from(cms[1] ?? '', 'base64'), content }
    : {
        kind: armoured.startsWith('-----BEGIN SIGNED MESSAGE') ? 'cms' : 'key',
        signature: Buffer.alloc(0),
        content,
      }
}
