import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import { integer, list, object, type TypeOf, text } from '../../../src/lib/schema.ts'
import { findErrors } from '../../../src/schema-check.ts'

/** The keys of an issuer on disk, for the next process that starts while the issuer is away. */
export interface KeptKeys {
  /** Returns the key set and when it was fetched; undefined where there is none that can be trusted. */
  read(): Promise<{ document: Readonly<Record<string, unknown>>; at: number } | undefined>
  /** Never fails: without the file, the issuer is asked. */
  write(document: Readonly<Record<string, unknown>>, at: number): Promise<void>
}

const schema = object({ issuer: text, url: text, fetched_at: integer, keys: list(object({ kty: text })) })

/** The members of public keys: RFC 7518, section 6; RFC 8037; and what says how they may be used. */
const PUBLIC = new Set(['kty', 'kid', 'use', 'key_ops', 'alg', 'crv', 'x', 'y', 'n', 'e'])
const MOST_BYTES = 512 * 1024

/** The file of one issuer and one URL of keys; both are compared with what the file says. */
export function createKeptKeys(
  folder: string,
  { issuer = '', url = '' }: { issuer?: string | undefined; url?: string | undefined },
): KeptKeys {
  const digest = createHash('sha256')
    .update(JSON.stringify([issuer, url]))
    .digest('hex')
  const path = join(folder, `${digest.slice(0, 32)}.json`)

  return {
    async read() {
      const found = await readOwnFile(path).catch(() => undefined)
      if (!found || found.issuer !== issuer || found.url !== url) return undefined
      return { document: { keys: publicKeys(found.keys) }, at: found.fetched_at }
    },
    async write({ keys }, at) {
      const document = { issuer, url, fetched_at: at, keys: publicKeys(Array.isArray(keys) ? keys : []) }
      await writeFileAtomic(path, `${JSON.stringify(document)}\n`).catch(() => undefined)
    },
  }
}

const publicKeys = (keys: readonly object[]): object[] =>
  keys
    .filter(key => 'kty' in key && key.kty !== 'oct')
    .map(key => Object.fromEntries(Object.entries(key).filter(([name]) => PUBLIC.has(name))))

/** A file that others could have written is not read: whoever writes keys can log in as anybody. */
async function readOwnFile(path: string): Promise<TypeOf<typeof schema> | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const { uid, mode, size } = await file.stat()
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0 || size > MOST_BYTES) return undefined
    const value: unknown = JSON.parse(await file.readFile('utf8'))
    return findErrors(schema, value) === undefined ? (value as TypeOf<typeof schema>) : undefined
  } finally {
    await file.close()
  }
}
