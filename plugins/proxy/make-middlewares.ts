import type { Middleware, MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import { assertPlace } from './assert-place.ts'

/** What makes a middleware, and the plugin that it comes from. */
export interface MiddlewareSource {
  readonly make: MiddlewareFactory
  readonly plugin: string
  /** Whether the user has added that plugin. */
  readonly isAdded?: boolean
}

/** A middleware of a pipeline, and the plugin that it comes from. */
export interface PlacedMiddleware extends Omit<MiddlewareSource, 'make'> {
  readonly middleware: Middleware
}

/** Makes all that the run config asks for. When one cannot be made, those that were made are closed. */
export async function makeMiddlewares(
  sources: readonly MiddlewareSource[],
  make: (factory: MiddlewareFactory) => Promise<Middleware | undefined>,
): Promise<PlacedMiddleware[]> {
  const settled = await Promise.allSettled(
    sources.map(async ({ make: factory, ...from }) => {
      const middleware = await make(factory)
      if (middleware && from.isAdded) assertPlace(middleware, from.plugin)
      return { ...from, middleware }
    }),
  )
  const made = settled.flatMap(one =>
    one.status === 'fulfilled' && one.value.middleware
      ? [{ ...one.value, middleware: one.value.middleware }]
      : [],
  )
  const failed = settled.find(one => one.status === 'rejected')
  if (!failed) return made
  for (const { middleware } of made) middleware.close?.()
  throw failed.reason
}
