import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Answer, fakeServer, send } from '../oci/fake-registry.ts'

/** Canonical JSON as TUF signs it: members in order, no blanks. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, item) =>
    item && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )

/** A TUF repository (specification 1.0) with one key for everything, which serves one trust root. */
export interface TufMirror {
  readonly url: string
  /** What a client gets from now on; `version` is that of the metadata, `sent` what is sent in the target's place. */
  publish(target: unknown, options?: { version?: number; sent?: string }): void
  /** Instead of answering. */
  answer: Answer | undefined
  /** Writes the first root into a cache, as the package does for the real mirror. */
  seed(cachePath: string): Promise<void>
}

export async function tufMirror(): Promise<TufMirror> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const keyid = 'a'.repeat(64)
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const key = { keytype: 'ed25519', scheme: 'ed25519', keyval: { public: raw.toString('hex') } }
  const files = new Map<string, string>()

  const signed = (type: string, version: number, members: Record<string, unknown>): string => {
    const body = { _type: type, spec_version: '1.0.31', version, expires: '2099-01-01T00:00:00Z', ...members }
    const sig = sign(null, Buffer.from(canonical(body)), privateKey).toString('hex')
    return JSON.stringify({ signed: body, signatures: [{ keyid, sig }] })
  }
  const role = { keyids: [keyid], threshold: 1 }
  const root = signed('root', 1, {
    consistent_snapshot: false,
    keys: { [keyid]: key },
    roles: { root: role, timestamp: role, snapshot: role, targets: role },
  })

  const server = await fakeServer((got, response, request) => {
    if (mirror.answer) return mirror.answer(got, response, request)
    const file = files.get(got.path)
    return file === undefined ? send(response, '', {}, 404) : send(response, file, {})
  })
  const mirror: TufMirror = {
    url: server.origin,
    answer: undefined,
    publish(target, { version = 1, sent } = {}) {
      const text = JSON.stringify(target)
      const hash = createHash('sha256').update(text).digest('hex')
      const about = { 'trusted_root.json': { length: text.length, hashes: { sha256: hash } } }
      files.set('/targets/trusted_root.json', sent ?? text)
      files.set('/targets.json', signed('targets', version, { targets: about }))
      files.set('/snapshot.json', signed('snapshot', version, { meta: { 'targets.json': { version } } }))
      files.set('/timestamp.json', signed('timestamp', version, { meta: { 'snapshot.json': { version } } }))
    },
    async seed(cachePath) {
      const folder = join(cachePath, encodeURIComponent(server.host))
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'root.json'), root)
    },
  }
  return mirror
}
