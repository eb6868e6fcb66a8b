import { join } from 'node:path'
import { TrustedRoot } from '@sigstore/protobuf-specs'
import seeds from '@sigstore/tuf/seeds.json' with { type: 'json' }
import { toTrustMaterial } from '@sigstore/verify'
import { failures as core, messageOf } from '../../src/errors.ts'
import { readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { readUserFile } from '../../src/user-file.ts'
import type { TrustRoot } from './verify-candidate.ts'

/** Sigstore's public instance, and the one that GitHub runs for private repositories. */
const PUBLIC_GOOD = 'tuf-repo-cdn.sigstore.dev'
const GITHUB = 'tuf-repo.github.com'

const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR

/**
 * Sigstore signs its root metadata anew about twice a year, and each is valid for half a year (TUF
 * specification, "expires"). Who withholds newer ones could hide that a key was revoked, so a trust root is
 * not trusted for longer than that.
 */
const LAST_DAYS = 182
/** A root older than this causes a warning: it should be refreshed every day. */
const WARN_DAYS = 60

/** Finds the keys and certificates to trust. */
export interface TrustRoots {
  /** By the `sigstore_url` of a registry entry; or why there are none. */
  find(sigstoreUrl: string | undefined): Promise<TrustRoot | { readonly problem: string }>
}

/** A trust root, and when it was the newest (milliseconds). */
interface Dated {
  readonly root: unknown
  readonly fetchedAt: number
}

/** What is kept between runs. */
interface Kept extends Partial<Dated> {
  /** Of the last try, whether or not it brought anything. */
  readonly triedAt: number
  readonly succeeded: boolean
}

/**
 * The trust root comes with keelson, so nothing needs the network. Once a day a newer one is fetched
 * and kept; when that fails, the present one stays in use, and the next attempt is an hour later. After two
 * months a warning says so, and after half a year nothing is verified any more.
 *
 * A file given by the user, for a Sigstore of their own, replaces all of this.
 */
export function createTrustRoots(options: {
  cacheFolder: string
  file?: string | undefined
  /** Gets the newest trust root as JSON; absent: never asked. */
  refresh?: ((mirror: string) => Promise<unknown>) | undefined
  debug: (message: string) => void
  warn: (message: string) => void
  now?: () => number
}): TrustRoots {
  const { cacheFolder, file, refresh, debug, warn, now = Date.now } = options
  const cachePath = join(cacheFolder, `${PUBLIC_GOOD}.json`)
  let hasWarned = false

  return {
    async find(sigstoreUrl) {
      const instance = (sigstoreUrl ?? '').replace(/^https:\/\//, '').replace(/\/+$/, '') || PUBLIC_GOOD
      const isGithub = instance === GITHUB
      if (file) return { material: await readOwn(file), isGithub }
      if (instance === PUBLIC_GOOD) return checkAge(await newest())
      return {
        problem: `the trust root of ${instance} is not built in; name its file in KEELSON_SIGSTORE_TRUSTED_ROOT`,
      }
    },
  }

  function checkAge({ root, fetchedAt }: Dated): TrustRoot | { readonly problem: string } {
    const days = Math.floor((now() - fetchedAt) / DAY)
    const old = `Sigstore's trust root is ${days} days old, and no newer one could be fetched from ${PUBLIC_GOOD}`
    if (days > LAST_DAYS) {
      return { problem: `${old}; a newer one can be named in KEELSON_SIGSTORE_TRUSTED_ROOT` }
    }
    if (days > WARN_DAYS && !hasWarned) {
      warn(`${old}. It is trusted for ${LAST_DAYS - days} more days.`)
      hasWarned = true
    }
    return { material: toMaterial(root), isGithub: false }
  }

  async function newest(): Promise<Dated> {
    const kept = await readKept(cachePath)
    const age = kept ? now() - kept.triedAt : DAY
    // Less than nothing: the clock was set back, and would keep an old root for long.
    const isDue = age < 0 || age >= (kept?.succeeded ? DAY : HOUR)
    if (refresh && isDue) {
      const fetched = await refresh(`https://${PUBLIC_GOOD}`)
        .then(root => {
          toMaterial(root)
          return { root, fetchedAt: now() }
        })
        .catch(error => {
          debug(`Sigstore's trust root could not be refreshed: ${messageOf(error)}`)
          return undefined
        })
      await keep({ ...kept, ...fetched, triedAt: now(), succeeded: fetched !== undefined })
      if (fetched) return fetched
    }
    const built = { root: shipped(), fetchedAt: shippedAt() }
    const { root, fetchedAt = 0 } = kept ?? {}
    // One from the future was fetched under a wrong clock: nobody knows how old it is.
    const isNewer = root !== undefined && fetchedAt >= built.fetchedAt && fetchedAt <= now()
    return isNewer ? { root, fetchedAt } : built
  }

  /** Verification also works without a cache. */
  async function keep(kept: Kept): Promise<void> {
    await writeFileAtomic(cachePath, JSON.stringify(kept)).catch(error => debug(messageOf(error)))
  }
}

/** The trust root of the public instance as it was when the package was made. */
export function shipped(): unknown {
  const { targets } = seeds[`https://${PUBLIC_GOOD}`]
  return JSON.parse(Buffer.from(targets['trusted_root.json'], 'base64').toString('utf8'))
}

/** When that was, by the end of the metadata that it came with. */
export function shippedAt(): number {
  const { 'root.json': root } = seeds[`https://${PUBLIC_GOOD}`]
  const { signed } = JSON.parse(Buffer.from(root, 'base64').toString('utf8')) as {
    signed: { expires: string }
  }
  return Date.parse(signed.expires) - LAST_DAYS * DAY
}

function toMaterial(document: unknown): TrustRoot['material'] {
  const root = TrustedRoot.fromJSON(document)
  // The reader accepts any text, and may return a trust root without keys.
  if (!root.certificateAuthorities.length) throw new Error('it names no certificate authority')
  return toTrustMaterial(root)
}

async function readOwn(path: string): Promise<TrustRoot['material']> {
  try {
    return toMaterial(JSON.parse(await readUserFile(path, 'The trust root')))
  } catch (error) {
    throw core.invalid_file({ path, problem: `it is not a Sigstore trust root: ${messageOf(error)}.` })
  }
}

/** What was fetched before; undefined when there is nothing, or nothing that can be used. */
async function readKept(path: string): Promise<Kept | undefined> {
  try {
    const kept = JSON.parse((await readFileIfThere(path)) ?? 'null') as Kept | null
    if (!kept || typeof kept.triedAt !== 'number') return undefined
    if (kept.root === undefined) return kept
    toMaterial(kept.root)
    // Earlier versions wrote down the last try only.
    const { fetchedAt = kept.succeeded ? kept.triedAt : 0 } = kept
    return { ...kept, fetchedAt }
  } catch {
    return undefined
  }
}
