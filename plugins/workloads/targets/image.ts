import type { App } from '../../../src/app.ts'
import type { Target } from '../../../src/contracts/target.ts'
import { Failure } from '../../../src/errors.ts'
import { parseOciReference } from '../../../src/lib/oci-reference.ts'
import { failures } from '../failures.ts'
import { fetchImage } from './fetch-image.ts'
import { guessTarget } from './guess-target.ts'

/** A container image, the last guess: whatever no other target claims. */
export const imageTarget = (app: App): Target => ({
  kind: 'image',
  defaultTransport: 'streamable-http',
  accepts: () => true,

  defaultName(argument) {
    const reference = parseOciReference(argument)
    const parts = (reference?.repository ?? argument).split('/').slice(-2)
    return parts.join('-').replace(/[^A-Za-z0-9_-]+/g, '-') || 'workload'
  },

  async resolve(argument, context) {
    if (!parseOciReference(argument)) {
      const problem = 'it is not an image reference, package or URL.'
      throw failures.target_unknown({ argument, problem, hint: guessTarget(argument) })
    }
    const { verifyGiven } = await import('./verify-given.ts') // only a run verifies
    const { image, ...kept } = await verifyGiven(app, argument, context)
    try {
      const runtime = await context.runtime()
      if (!runtime.images) throw failures.images_unsupported({ runtime: runtime.name, argument })
      await fetchImage(runtime.images, image, context)
    } catch (error) {
      context.signal?.throwIfAborted()
      throw await withNearNames(app, argument, error)
    }
    const transport = context.options.transport ?? 'streamable-http'
    return { source: argument, image, ...kept, transport }
  },
})

/** A mistyped name is often a valid image reference. */
async function withNearNames(app: App, argument: string, error: unknown): Promise<unknown> {
  if (!(error instanceof Failure)) return error
  const targets = (await app.contributions('targets')).map(make => make(app))
  const near = await Promise.all(targets.map(target => target.near?.(argument)))
  const names = near.flatMap(found => found ?? [])
  const meant = guessTarget(argument) ?? (names.length ? `Did you mean ${names.join(', ')}?` : undefined)
  if (!meant) return error
  const { code, message, status, exit, details, extra } = error
  const hint = [meant, error.hint].filter(Boolean).join('\n')
  return new Failure(code, { text: message, status, exit, hint, details, extra }, { cause: error })
}
