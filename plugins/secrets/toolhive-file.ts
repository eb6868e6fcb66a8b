import { createDecipheriv, createHash } from 'node:crypto'
import { parseSecretMap } from './secret-map.ts'

const NONCE = 12
const TAG = 16
const SCOPED = /^__thv_([^_]+)_(.+)$/s

/**
 * Opens ToolHive's `secrets_encrypted`: nonce, AES-256-GCM, tag; the key is one SHA-256 of the
 * password. Undefined when the password is wrong or this is another kind of file. What ToolHive keeps for
 * itself gets our names.
 */
export function openToolhiveFile(bytes: Buffer, password: string): Map<string, string> | undefined {
  if (bytes.length < NONCE + TAG) return undefined
  const key = createHash('sha256').update(password).digest()
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG })
  decipher.setAuthTag(bytes.subarray(-TAG))
  let content: Buffer
  try {
    content = Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()])
  } catch {
    return undefined
  }
  const secrets = parseSecretMap(content)
  return secrets && new Map([...secrets].map(([name, value]) => [ownName(name), value]))
}

const ownName = (name: string): string => name.replace(SCOPED, '__keelson_$1_$2')
