import { type Handler, type Middleware, STAGES } from '../../src/contracts/pipeline.ts'

/** Wraps a handler in middlewares in the order of `STAGES`. Within a stage, the first given is outermost. */
export const composePipeline = (middlewares: readonly Middleware[], last: Handler): Handler =>
  middlewares
    .toSorted((a, b) => STAGES.indexOf(a.stage) - STAGES.indexOf(b.stage))
    .reduceRight((next, middleware) => middleware.wrap(next), last)
