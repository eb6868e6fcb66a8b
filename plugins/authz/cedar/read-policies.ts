import type { DetailedError, PolicyJson } from '@cedar-policy/cedar-wasm/web'
import type { AuthzSource, FilePosition } from '../authz-source.ts'
import { createLineIndex } from '../line-index.ts'
import type { Cedar } from './load-cedar.ts'
import { MOST_DEPTH, MOST_POLICIES, measurePolicies } from './measure-policies.ts'

export interface Policy {
  /** What its annotation `@id` says, else `policy0`, `policy1` and so on in the order of the configuration. */
  readonly id: string
  readonly text: string
  readonly json: PolicyJson
  /** Where it begins. */
  readonly place: Place
  /** Where the character at an offset of its text stands. */
  placeAt(offset: number): Place
}

/** A line of one of the texts in `cedar.policies`; both count from 1. */
export interface Place {
  readonly text: number
  readonly line: number
  /** The same in the file that the user edits, where that can be told. */
  readonly file?: FilePosition
}

export interface PolicyProblem {
  readonly place: Place
  readonly problem: string
}

/** Parses the texts of a configuration; several policies may stand in one. What is too much for Cedar is not parsed. */
export function readPolicies(
  cedar: Cedar,
  texts: readonly string[],
  locate: AuthzSource['locate'],
): { readonly policies: readonly Policy[]; readonly problems: readonly PolicyProblem[] } {
  const policies: Policy[] = []
  const problems: PolicyProblem[] = []
  const ids = new Set<string>()
  let room = MOST_POLICIES
  for (const [index, text] of texts.entries()) {
    const positionAt = createLineIndex(text)
    const placeAt = (offset: number): Place => {
      const file = locate(index, offset)
      return { text: index + 1, line: positionAt(offset).line, ...(file ? { file } : {}) }
    }
    const measures = measurePolicies(text)
    const excess = measures[room]
    const tooDeep = measures.filter(({ depth }) => depth > MOST_DEPTH)
    if (excess) {
      problems.push({ place: placeAt(excess.start), problem: `more than ${MOST_POLICIES} policies` })
      break
    }
    if (tooDeep.length) {
      const problem = `an expression is deeper than ${MOST_DEPTH} operators (a set is flat: [A, B].contains(X))`
      problems.push(...tooDeep.map(({ start }) => ({ place: placeAt(start), problem })))
      continue
    }
    room -= measures.length
    const parts = cedar.policySetTextToParts(text)
    if (parts.type === 'failure') {
      problems.push(...parts.errors.map(error => toProblem(error, text, placeAt)))
      continue
    }
    const [template] = parts.policy_templates
    if (template !== undefined) {
      problems.push({
        place: placeAt(text.indexOf(template)),
        problem: 'templates (?principal) are not used',
      })
    }
    if (parts.policies.length === 0 && template === undefined) {
      problems.push({ place: placeAt(0), problem: 'there is no policy in this text' })
    }
    for (const { part, offset } of inOrder(text, parts.policies)) {
      const parsed = cedar.policyToJson(part)
      if (parsed.type === 'failure') {
        problems.push(...parsed.errors.map(({ message }) => ({ place: placeAt(offset), problem: message })))
        continue
      }
      const id = parsed.json.annotations?.id || `policy${policies.length}`
      if (ids.has(id)) problems.push({ place: placeAt(offset), problem: `another policy has the id "${id}"` })
      ids.add(id)
      const [place, placeIn] = [placeAt(offset), (inner: number) => placeAt(offset + inner)]
      policies.push({ id, text: part, json: parsed.json, place, placeAt: placeIn })
    }
  }
  return { policies, problems }
}

/** The parts come sorted by names that Cedar gives them, as texts: 10 before 2. */
function inOrder(text: string, parts: readonly string[]): { part: string; offset: number }[] {
  const ends = new Map<string, number>()
  return parts
    .map(part => {
      const offset = text.indexOf(part, ends.get(part) ?? 0)
      ends.set(part, offset + part.length)
      return { part, offset: Math.max(offset, 0) }
    })
    .sort((a, b) => a.offset - b.offset)
}

function toProblem(
  { message, help, sourceLocations }: DetailedError,
  text: string,
  placeAt: (offset: number) => Place,
): PolicyProblem {
  const offset = toOffset(text, sourceLocations?.[0]?.start)
  return { place: placeAt(offset), problem: help ? `${message} (${help})` : message }
}

/** The offset of a character of a text. Cedar counts in bytes. */
export const toOffset = (text: string, bytes = 0): number =>
  Buffer.from(text).subarray(0, bytes).toString('utf8').length
