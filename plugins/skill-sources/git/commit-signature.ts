/** A signature in a commit, and what it signs: the commit without it. */
export interface CommitSignature {
  /** CMS, as gitsign makes them; PGP and SSH keys say nothing about who holds them, and count as none. */
  readonly kind: 'cms' | 'key'
  readonly signature: Buffer
  readonly content: Buffer
}

/** `gpgsig`, and `gpgsig-sha256` in repositories with both hashes, with the lines that continue it. */
const HEADER = /^gpgsig(?:-sha256)? [^\n]*\n(?: [^\n]*\n)*/gm

/** The signature of a commit, as git keeps it (git's "signature-format"); undefined when it has none. */
export function findSignature(commit: Buffer): CommitSignature | undefined {
  // One character for each byte, so that positions are those of the bytes.
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
