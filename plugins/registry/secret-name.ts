import { createHash } from 'node:crypto'
import type { Wanted } from '../secrets/index.ts'

const MOST_READABLE = 60

/**
 * Name of the secret that a typed value is stored as: what a person recognises, then a digest (SHA-256,
 * its first 128 bits) of registry, server and variable, so that no two of them have one name. Letters,
 * digits and `_` only: every provider takes it, and so does a variable of a shell.
 */
export function secretNameOf({ registry, server, variable }: Wanted): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([registry, server, variable]))
    .digest('hex')
  const readable = `${server}_${variable}`.replace(/[^A-Za-z0-9]+/g, '_').slice(0, MOST_READABLE)
  return `${readable}_${digest.slice(0, 32)}`
}

/** The name in earlier versions. Servers with the same short name shared it, so it is never given without a question. */
export const formerSecretName = ({ server, variable }: Omit<Wanted, 'registry'>): string =>
  `registry-user-${server.slice(server.indexOf('/') + 1)}-${variable}`
