/**
 * Reads the plain content of a file of secrets, `{"secrets": {name: value}}`, as ToolHive has it too.
 * Undefined when it is something else. By hand, since `__proto__` is a name like others.
 */
export function parseSecretMap(content: Buffer): Map<string, string> | undefined {
  let document: unknown
  try {
    document = JSON.parse(content.toString('utf8'))
  } catch {
    return undefined
  }
  if (typeof document !== 'object' || document === null || !('secrets' in document)) return undefined
  const { secrets } = document
  if (typeof secrets !== 'object' || secrets === null || Array.isArray(secrets)) return undefined
  const entries: [string, unknown][] = Object.entries(secrets)
  return entries.every(isPair) ? new Map(entries as [string, string][]) : undefined
}

const isPair = ([, value]: [string, unknown]): boolean => typeof value === 'string'

export const writeSecretMap = (secrets: ReadonlyMap<string, string>): Buffer =>
  Buffer.from(JSON.stringify({ secrets: Object.fromEntries(secrets) }))
