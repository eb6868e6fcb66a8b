import { type Handler, type Middleware, STAGES } from '../../src/contracts/pipeline.ts'

/** Puts middlewares around a handler in the order of `STAGES`; of one stage, the first given is outermost. */
export const composePipeline = (middlewares: readonly Middleware[], last: Handler): Handler =>
  middlewares
    .toSorted((a, b) => STAGES.indexOf(a.stage) - STAGES.indexOf(b.stage))
    .reduceRight((next, middleware) => middleware.wrap(next), last)
