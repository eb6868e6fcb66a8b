import { type Handler, STAGES } from '../../src/contracts/pipeline.ts'
import type { PipelineMiddleware } from '../../src/contracts/workload.ts'
import { redact } from '../../src/lib/redact.ts'
import type { PlacedMiddleware } from './make-middlewares.ts'

/** Returns the middlewares in the order of `STAGES`. Within a stage, the first given is outermost. */
export const toOrder = (placed: readonly PlacedMiddleware[]): PlacedMiddleware[] =>
  placed.toSorted((a, b) => STAGES.indexOf(a.middleware.stage) - STAGES.indexOf(b.middleware.stage))

/** Wraps a handler in middlewares, the first of them outermost. */
export const composePipeline = (ordered: readonly PlacedMiddleware[], last: Handler): Handler =>
  ordered.reduceRight((next, { middleware }) => middleware.wrap(next), last)

const LONGEST_SUMMARY = 300

/** What users see of the middlewares. */
export const toSteps = (ordered: readonly PlacedMiddleware[]): PipelineMiddleware[] =>
  ordered.map(({ middleware: { stage, name, summary }, plugin, isAdded }) => ({
    stage,
    name,
    ...(summary ? { description: toLine(summary) } : {}),
    plugin,
    ...(isAdded ? { added: true } : {}),
  }))

const toLine = (summary: string): string =>
  redact(summary.replace(/\s+/g, ' ').trim()).slice(0, LONGEST_SUMMARY)
