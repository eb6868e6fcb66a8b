import { isUtf8 } from 'node:buffer'
import { clean } from '../../src/lib/printable.ts'
import { parseRaw, repeatedMember, topLevelMembers } from '../../src/lib/raw-json.ts'
import { redact } from '../../src/lib/redact.ts'
import { VERSION } from './envelope.ts'

/** What a webhook has decided about a message. */
export interface WebhookDecision {
  readonly isAllowed: boolean
  /** Why, as the webhook says it: for the log, cut and made printable. Empty where it says nothing. */
  readonly why: string
  /** A JSON Patch (RFC 6902) in raw text; undefined where the message stays as it is. */
  readonly patch?: string | undefined
}

const MOST_CHARACTERS = 300

/**
 * Reads the body of a webhook's answer to what was sent with `uid`. Without `allowed` it denies. Returns a problem
 * where the answer can be taken in two ways, or is for something else.
 */
export function readDecision(
  body: Buffer,
  uid: string,
): { readonly decision: WebhookDecision } | { readonly problem: string } {
  const text = isUtf8(body) ? body.toString('latin1') : ''
  const members = topLevelMembers(text)
  if (!members) return { problem: 'its response is not a JSON object' }
  const repeated = repeatedMember(text)
  if (repeated !== undefined)
    return { problem: `its answer has ${JSON.stringify(repeated.slice(0, 100))} twice` }
  const textOf = (name: string): string | undefined => {
    const span = members.at.get(name)
    return span && text.slice(span.start, span.end)
  }
  const readMember = (name: string): unknown => {
    const found = textOf(name)
    return found === undefined ? undefined : (parseRaw(found) ?? undefined)
  }

  if (![undefined, uid].includes(readMember('uid') as string))
    return { problem: 'its response has another uid' }
  if (![undefined, VERSION].includes(readMember('version') as string)) {
    return { problem: `its answer is not of version ${VERSION}` }
  }
  const allowed = readMember('allowed') ?? false
  if (typeof allowed !== 'boolean') return { problem: 'allowed is neither true nor false' }
  const why = ['code', 'reason', 'message'].map(readMember).filter(isShown).join(', ')
  const type = readMember('patch_type') ?? ''
  const patch = readMember('patch') === undefined ? undefined : textOf('patch')
  if (patch !== undefined && type !== 'json_patch' && type !== '')
    return { problem: 'patch_type is not json_patch' }
  return {
    decision: {
      isAllowed: allowed,
      why: clean(redact(why)).slice(0, MOST_CHARACTERS),
      patch: type === '' ? undefined : patch,
    },
  }
}

const isShown = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') || typeof value === 'number'
