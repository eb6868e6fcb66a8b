import * as t from 'typanion'

const schema = t.isObject({ secrets: t.isRecord(t.isString()) }, { extra: t.isUnknown() })

/** The plain content of a file of secrets: `{"secrets": {name: value}}`, as ToolHive has it too. */
export function parseSecretMap(content: Buffer): Map<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(content.toString('utf8'))
    return schema(value) ? new Map(Object.entries(value.secrets)) : undefined
  } catch {
    return undefined
  }
}

export const writeSecretMap = (secrets: ReadonlyMap<string, string>): Buffer =>
  Buffer.from(JSON.stringify({ secrets: Object.fromEntries(secrets) }))
