import { createContext, Script } from 'node:vm'
import { Environment } from '@marcbachmann/cel-js'
import { messageOf } from '../../src/errors.ts'
import { failures } from './failures.ts'

/** Whether the claims of a caller fulfil an expression. Throws `MatcherTimeout`; any other error means that it cannot be said. */
export type Matcher = (claims: Readonly<Record<string, unknown>>) => boolean

/** An expression took too long for these claims. */
export class MatcherTimeout extends Error {
  override readonly name = 'MatcherTimeout'
}

/** How long one expression may take, in milliseconds: callers choose what is in their claims. */
const MOST_MS = 50

const LIMITS = {
  maxAstNodes: 500,
  maxDepth: 32,
  maxListElements: 200,
  maxMapEntries: 200,
  maxCallArguments: 16,
}

/** Compiles a CEL expression over `claims`. Fails with `role_matcher_invalid`. */
export function compileMatcher(expression: string): Matcher {
  const environment = new Environment({ limits: LIMITS }).registerVariable('claims', 'map')
  const invalid = (problem: string) => failures.role_matcher_invalid({ expression, problem })
  let evaluate: ReturnType<typeof environment.parse>
  try {
    evaluate = environment.parse(expression)
  } catch (error) {
    throw invalid(firstLine(messageOf(error)))
  }
  const { valid, type = '', error } = evaluate.check()
  if (!valid) throw invalid(firstLine(messageOf(error)))
  if (type !== 'bool' && type !== 'dyn') throw invalid(`it gives ${type}, not true or false`)
  return claims => withinMs(() => evaluate({ claims })) === true
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

const script = new Script('work()')
const sandbox: { work?: () => unknown } = {}
const context = createContext(sandbox)

/** V8 ends what a script runs, a regular expression among it, when its time is over. */
function withinMs(work: () => unknown): unknown {
  sandbox.work = work
  try {
    return script.runInContext(context, { timeout: MOST_MS })
  } catch (error) {
    if (isTimeout(error)) throw new MatcherTimeout()
    throw error
  }
}

/** It is an error of the script's own context, so that it is no instance of our `Error`. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
