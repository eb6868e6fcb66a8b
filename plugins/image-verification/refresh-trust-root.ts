import { rm } from 'node:fs/promises'
import { TrustedRoot } from '@sigstore/protobuf-specs'
import { getTrustedRoot, TUFError } from '@sigstore/tuf'

/** For one request; a few follow each other. */
const REQUEST_TIMEOUT_MS = 3_000
const TIMEOUT_MS = 8_000

/**
 * Fetches the newest trust root of an instance through TUF, which starts from the root that the
 * package ships. Its own cache remembers versions, so that nobody can hand out an older one.
 */
export async function refreshTrustRoot(mirror: string, cachePath: string): Promise<unknown> {
  const fetchOnce = () =>
    getTrustedRoot({ mirrorURL: mirror, cachePath, timeout: REQUEST_TIMEOUT_MS, retry: { retries: 0 } })
  const fetching = fetchOnce().catch(async error => {
    if (error instanceof TUFError) throw error
    // The cache itself cannot be read, e.g. after a kill in the middle of writing it.
    await rm(cachePath, { recursive: true, force: true })
    return fetchOnce()
  })
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${TIMEOUT_MS / 1000} seconds`)), TIMEOUT_MS)
  })
  try {
    return TrustedRoot.toJSON(await Promise.race([fetching, tooLate]))
  } finally {
    clearTimeout(timer)
    fetching.catch(() => undefined)
  }
}
