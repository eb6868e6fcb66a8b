import type { DeviceAuthorizationResponse } from 'openid-client'
import { isFailure } from '../../../src/errors.ts'
import { clean } from '../../../src/lib/printable.ts'
import { failures } from '../failures.ts'
import { assertPublicName } from './public-name.ts'
import { isWrittenPrivate, toSafeUrl } from './safe-url.ts'
import type { Discovery, LoginStep } from './types.ts'

const LONGEST_CODE = 100

/** No code is shown as good for longer, in seconds. */
const LONGEST_LIFE = 24 * 3600

type Place = Pick<Discovery, 'issuer' | 'mayBePrivate'>

/**
 * What a person has to do on another device (RFC 8628 section 3.2). The page must be one that a person may be sent to;
 * the code is made fit for a terminal. Fails with `remote_issuer_invalid`.
 */
export async function readDeviceStep(
  started: DeviceAuthorizationResponse,
  place: Place,
  clock: () => number,
): Promise<LoginStep> {
  const url = await toPage(started.verification_uri, place)
  const code = clean(started.user_code)
  if (!url || !code || code.length > LONGEST_CODE) {
    throw failures.remote_issuer_invalid({
      issuer: place.issuer,
      problem: 'its response for another device cannot be used',
    })
  }
  return {
    kind: 'device',
    url,
    completeUrl: await toPage(started.verification_uri_complete, place).catch(error => {
      if (isFailure(error, 'remote_issuer_invalid')) return undefined // the page without the code does too
      throw error
    }),
    userCode: code,
    expiresAt: clock() + Math.min(started.expires_in, LONGEST_LIFE) * 1000,
  }
}

/** Fails where a server on the internet names a page in a private network; undefined for what is no page. */
async function toPage(text: string | undefined, place: Place): Promise<string | undefined> {
  const url = toSafeUrl(text)
  if (!url || (!place.mayBePrivate && isWrittenPrivate(url))) return undefined
  await assertPublicName(place, url.href)
  return url.href
}
