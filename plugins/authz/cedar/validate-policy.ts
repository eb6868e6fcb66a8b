import type { DetailedError } from '@cedar-policy/cedar-wasm/web'
import { isObject } from '../../../src/lib/is-object.ts'
import { HINTS } from '../decider.ts'
import { ABOUT } from './build-call.ts'
import { attributesRead, variableOf } from './expressions.ts'
import { findReferences } from './find-references.ts'
import type { CedarPolicies } from './read-cedar.ts'
import { type Policy, toOffset } from './read-policies.ts'
import { ANY_TYPE, type Attributes, type CedarType, toSchema } from './validation-schema.ts'

/** What an argument of a tool can be, by its name; an empty list: policies never see its value. */
export type ArgumentTypes = Readonly<Record<string, readonly CedarType[]>>

/** What the validator finds in a policy, and at which offset of its text. */
export interface ValidatorFinding {
  readonly problem: string
  readonly offset: number
}

interface Verdict {
  /** For each action whether no use can match. */
  readonly isImpossible: readonly boolean[]
  /** For each action what cannot be evaluated. */
  readonly errors: readonly (readonly ValidatorFinding[])[]
  readonly warnings: readonly ValidatorFinding[]
}

/**
 * Finds with the validator of Cedar what can never match. Types that nobody knows are those that fit the policy best. A
 * policy that reads parts of claims, or attributes of `entities_json`, has no findings: their types are unknown.
 */
export function validatePolicy(
  read: CedarPolicies,
  policy: Policy,
  known: ArgumentTypes = {},
): ValidatorFinding[] {
  const { json } = policy
  const { entities } = read.surroundings
  const attributes = [...attributesRead(json.conditions)]
  const isOurs = (name: string) => /^(?:claim|claimset|arg)_/.test(name) || STANDARD.has(name)
  const isClear =
    findReferences([json]).context !== 'all' &&
    attributes.every(({ attribute }) => isOurs(attribute)) &&
    !readsParts(json.conditions) &&
    !entities.types.has('Action')
  if (!isClear) return []

  const optional = new Set(attributes.flatMap(({ kind, attribute }) => (kind === 'has' ? [attribute] : [])))
  const names = [...new Set(attributes.map(({ attribute }) => attribute))].filter(name => !STANDARD.has(name))
  const argument = (name: string) => (Object.hasOwn(known, name) ? known[name] : undefined)
  const choices = (name: string): readonly CedarType[] =>
    (name.startsWith('arg_') ? argument(name.slice(4)) : undefined) ?? ANY_TYPE

  const typed = bestVerdict(names, choices)
  if (!typed) return []
  const { isImpossible, errors, warnings } = typed
  const isDead = errors.every((found, index) => found.length > 0 || isImpossible[index])
  if (!isDead) return [...warnings]
  const found = errors.flat()
  if (!found.length) {
    return [
      ...warnings,
      { problem: 'it never matches: nothing fits its scope and its conditions', offset: 0 },
    ]
  }
  const free = bestVerdict(names, () => ANY_TYPE)
  const isOfTool = free !== undefined && countErrors(free) < countErrors(typed)
  const certain = isOfTool ? found : found.filter(({ problem }) => CERTAIN.test(problem))
  const by = isOfTool ? 'it does not fit the input schema of the tool' : 'it cannot be evaluated'
  return [...warnings, ...certain.map(({ problem, offset }) => ({ problem: `${by}: ${problem}`, offset }))]

  /** The verdict with the types, one of the choices each, that cause the fewest errors. */
  function bestVerdict(all: readonly string[], choicesOf: typeof choices): Verdict | undefined {
    const types = new Map(
      all.flatMap(name =>
        choicesOf(name)
          .slice(0, 1)
          .map(type => [name, type]),
      ),
    )
    let best = judge({ types, optional })
    for (const name of best ? all : []) {
      for (const type of choicesOf(name).slice(1)) {
        const before = types.get(name) as CedarType
        types.set(name, type)
        const other = judge({ types, optional })
        if (best && other && countErrors(other) < countErrors(best)) best = other
        else types.set(name, before)
      }
    }
    return best
  }

  function judge(given: Attributes): Verdict | undefined {
    const answers = Object.keys(ABOUT).map(action =>
      read.cedar.validate({
        schema: toSchema(action, given, read.surroundings),
        policies: { staticPolicies: { policy: policy.text } },
      }),
    )
    const verdicts = answers.flatMap(answer => (answer.type === 'failure' ? [] : [answer]))
    if (verdicts.length < answers.length) return undefined
    const toFinding = ({ error }: { readonly error: DetailedError }): ValidatorFinding => ({
      problem: inWords(error),
      offset: toOffset(policy.text, error.sourceLocations?.[0]?.start),
    })
    const errors = verdicts.map(({ validationErrors }) =>
      validationErrors.map(toFinding).filter(({ problem }) => !IGNORED.test(problem)),
    )
    const warned = verdicts.map(({ validationWarnings }) => validationWarnings.map(toFinding))
    return {
      isImpossible: warned.map(found => found.some(({ problem }) => IMPOSSIBLE.test(problem))),
      errors,
      warnings: warned.flat().filter(({ problem }) => CHARACTERS.test(problem)),
    }
  }
}

const STANDARD = new Set<string>(['name', 'uri', 'operation', 'feature', ...HINTS])

/** An attribute that may be missing needs no test: a policy that cannot be evaluated permits nothing. */
const IGNORED = /unable to guarantee safety|empty set literals/
const IMPOSSIBLE = /policy is impossible/
/** Letters that look like others, or change the direction of the text. */
const CHARACTERS = /^(?:string|identifier) /
/** What does not come of types that were guessed. */
const CERTAIN = /has no attribute|has no "|extension function argument/

const countErrors = ({ errors }: Verdict): number => errors.flat().length

function inWords({ message, help }: DetailedError): string {
  const plain = message
    .replace(/^for policy `policy`, /, '')
    .replace(/^attribute `(.+)` on entity type `(.+)` not found$/, 'a $2 has no attribute "$1"')
    .replace(/^attribute `(.+)` in context for Action::"(.+)" not found$/, 'the context of $2 has no "$1"')
  const isOurs = plain.includes(' has no ')
  return help && !isOurs ? `${plain} (${help.replace(/^for policy `policy`, /, '')})` : plain
}

/** Whether an attribute of an attribute is read, or one of an entity that the policy names. */
function readsParts(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(readsParts)
  if (!isObject(node)) return false
  return Object.entries(node).some(([kind, body]) => {
    if (kind === 'Value') return false
    const isAccess = (kind === '.' || kind === 'has') && isObject(body)
    if (isAccess && (variableOf(body.left) === undefined || Array.isArray(body.attr))) return true
    return readsParts(body)
  })
}
