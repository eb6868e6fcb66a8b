import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { readFileIfThere, writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import { failures } from '../failures.ts'
import type { LoginPlace } from './login-parts.ts'

/**
 * At which issuer a client of the user's first logged in. The server says where to log in, so another issuer that it
 * names later could be after the secret of the client.
 */
export interface ClientBindings {
  /** Fails with `client_of_other_issuer`, unless the person has typed the issuer. */
  assertHolds(place: Omit<LoginPlace, 'key'>): Promise<void>
  /** Called after a login; the first one counts, and those at an issuer that the person has typed. */
  bind(place: Omit<LoginPlace, 'key'>): Promise<void>
}

export function createClientBindings(folder: string): ClientBindings {
  function pathOf({ origin, settings }: Omit<LoginPlace, 'key'>): string | undefined {
    const { clientId, clientSecret, privateKey } = settings
    if (clientId === undefined || (clientSecret ?? privateKey) === undefined) return undefined
    const digest = createHash('sha256')
      .update(JSON.stringify([origin, clientId]))
      .digest('hex')
    return join(folder, `client-${digest.slice(0, 32)}.issuer`)
  }

  return {
    async assertHolds(place) {
      const path = pathOf(place)
      const bound = path && !place.isTyped ? await readFileIfThere(path) : undefined
      if (bound === undefined || bound === place.discovery.issuer) return
      throw failures.client_of_other_issuer({ server: place.origin, bound, issuer: place.discovery.issuer })
    },
    async bind(place) {
      const path = pathOf(place)
      if (!path) return
      if (place.isTyped || (await readFileIfThere(path)) === undefined) {
        await writeFileAtomic(path, place.discovery.issuer)
      }
    },
  }
}
