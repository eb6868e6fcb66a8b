import type { ImageStore, WaitOptions } from '../../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../../src/contracts/runtime-failures.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'

const DEFAULT_IMAGE = 'node:24-alpine'

/**
 * The image of an engine's helper; it contains Node. The program in it decides what all isolated servers
 * reach, so only the environment of keelson can name another one, and neither a run config nor a package can.
 */
export interface HelperImage {
  /** The image reference that the helper runs. */
  readonly name: string
  /** Pulls the image if the engine does not have it. Fails with `isolation_unsupported`. */
  fetch(options?: WaitOptions): Promise<string>
}

export function createHelperImage(options: {
  runtime: string
  images: ImageStore
  env: Readonly<Record<string, string | undefined>>
}): HelperImage {
  const { runtime, images, env } = options
  const image = env.KEELSON_HELPER_IMAGE || DEFAULT_IMAGE
  return {
    name: image,
    async fetch(wait = {}) {
      if (await images.has(image)) return image
      wait.report?.(`Pulling ${image}, on which the way out of isolated servers runs`)
      try {
        await images.pull(image, wait)
        return image
      } catch (error) {
        wait.signal?.throwIfAborted()
        if (!isFailure(error)) throw error
        throw runtimeFailures.isolation_unsupported({
          runtime,
          problem: `the way out of its networks needs an image with Node. ${messageOf(error)}`,
          hint: 'Name one that is there with KEELSON_HELPER_IMAGE, or say --isolate-network=false.',
        })
      }
    },
  }
}
