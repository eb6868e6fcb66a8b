import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readFileIfThere, writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import type { Log } from '../../../src/log.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { withFileLock } from '../../../src/with-file-lock.ts'
import { failures } from '../failures.ts'
import type { AuthServerConfig } from '../section.ts'
import { createHmacSecrets, type HmacSecrets, LEAST_SECRET_BYTES } from './hmac-secrets.ts'
import { keyPath, openKeyFiles } from './key-files.ts'
import { toSigningKeys } from './read-key.ts'
import type { SigningKeys } from './signing-keys.ts'

/** What tokens are made and sealed with. */
export interface ServerKeys {
  readonly signing: () => Promise<SigningKeys>
  readonly secrets: HmacSecrets
}

const LOCK_SECONDS = 5

/**
 * Opens the keys that the configuration names. Without them, what is in memory gets keys that are gone with the
 * process, and what is in a file gets keys that stay beside it. Replicas have to have the same keys, so with Redis
 * files are required. Fails with `auth_server_config_invalid`.
 */
export async function openKeys(
  { storage = {}, signing_key_config: signing, hmac_secret_files: files = [] }: AuthServerConfig,
  { folder, log }: { folder: string; log: Pick<Log, 'warn'> },
): Promise<ServerKeys> {
  const { type = 'memory' } = storage
  const signingFile = signing?.signing_key_file
  if (type === 'redis' && (!signingFile || files.length === 0)) throw needsFiles()
  return {
    signing: signingFile
      ? await openKeyFiles(
          {
            signing: keyPath(signingFile, signing?.key_dir),
            others: (signing?.fallback_key_files ?? []).map(name => keyPath(name, signing?.key_dir)),
          },
          { log },
        )
      : await ownKey(type === 'sqlite' ? join(folder, 'signing-key.pem') : undefined),
    secrets: files.length
      ? createHmacSecrets(await readSecrets(files))
      : await ownSecret(type === 'sqlite' ? join(folder, 'hmac-secret') : undefined),
  }
}

const needsFiles = () =>
  failures.auth_server_config_invalid({
    problem: 'all replicas that share a Redis need the same keys',
    hint: 'Name them with signing_key_config.signing_key_file and hmac_secret_files.',
  })

/** Fails with `auth_server_config_invalid` for a secret that is too short to be one. */
async function readSecrets(files: readonly string[]): Promise<[Buffer, ...Buffer[]]> {
  const [first, ...others] = await Promise.all(
    files.map(async path => {
      const secret = Buffer.from((await readUserFile(path, 'The HMAC secret')).trim())
      if (secret.length >= LEAST_SECRET_BYTES) return secret
      throw failures.auth_server_config_invalid({
        problem: `the HMAC secret in ${path} has ${secret.length} bytes; ${LEAST_SECRET_BYTES} are needed`,
      })
    }),
  )
  if (!first) throw new Error('unreachable')
  return [first, ...others]
}

async function ownKey(path: string | undefined): Promise<() => Promise<SigningKeys>> {
  const text = await keptText(path, () =>
    generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString(),
  )
  const keys = await toSigningKeys({ path: path ?? 'of this process', text }, [])
  return async () => keys
}

async function ownSecret(path: string | undefined): Promise<HmacSecrets> {
  const text = await keptText(path, () => randomBytes(LEAST_SECRET_BYTES).toString('base64'))
  return createHmacSecrets([Buffer.from(text.trim())])
}

/** The text of a file that only the user can read; made if there is none. Without a path it is not kept. */
async function keptText(path: string | undefined, make: () => string): Promise<string> {
  if (path === undefined) return make()
  const there = await readFileIfThere(path)
  if (there !== undefined) return there
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
  return withFileLock(
    `${path}.lock`,
    async () => {
      const before = await readFileIfThere(path)
      if (before !== undefined) return before
      const text = make()
      await writeFileAtomic(path, text)
      return text
    },
    { seconds: LOCK_SECONDS },
  )
}
