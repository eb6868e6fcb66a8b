import type { ImageStore, WaitOptions } from '../../../src/contracts/runtime.ts'
import { parseOciReference } from '../../../src/lib/oci-reference.ts'

/**
 * Makes sure that the image is on this host. What moves (`latest`, or no tag) is pulled first and
 * taken from this host when that fails; a fixed tag or digest is pulled only when it is not here.
 */
export async function fetchImage(images: ImageStore, reference: string, options: WaitOptions): Promise<void> {
  const { tag, digest } = parseOciReference(reference) ?? {}
  const moves = digest === undefined && (tag === undefined || tag === 'latest')
  const here = await images.has(reference)
  if (here && !moves) return
  try {
    options.report?.(`Pulling ${reference}`)
    await images.pull(reference, options)
  } catch (error) {
    options.signal?.throwIfAborted()
    if (!here) throw error
    options.report?.(`${reference} could not be pulled; the copy on this host is used.`)
  }
}
