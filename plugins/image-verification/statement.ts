import * as t from 'typanion'

/** What an attestation says about which things (in-toto Attestation Framework, "Statement"). */
export interface Statement {
  readonly predicateType: string
  readonly predicate?: unknown
  readonly subject: readonly { readonly digest: Readonly<Record<string, string>> }[]
}

export const STATEMENT_TYPE = 'application/vnd.in-toto+json'

const extra = { extra: t.isUnknown() }
const schema = t.isObject(
  {
    _type: t.isString(),
    predicateType: t.isString(),
    subject: t.isArray(t.isObject({ digest: t.isRecord(t.isString()) }, extra)),
  },
  extra,
)

/** Reads the payload of an envelope; undefined when it is something else. */
export function parseStatement(payload: Uint8Array): Statement | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(payload).toString('utf8'))
    if (!schema(value) || !/^https:\/\/in-toto\.io\/Statement\//.test(value._type)) return undefined
    return value
  } catch {
    return undefined
  }
}

/** Whether the statement is about this digest. */
export function isAbout({ subject }: Statement, digest: string): boolean {
  const [algorithm = '', hex] = digest.split(':')
  return subject.some(item => Object.hasOwn(item.digest, algorithm) && item.digest[algorithm] === hex)
}
