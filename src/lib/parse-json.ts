/** A JSON error with its place, as an editor counts. */
export function describeJsonError(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const position = /position (\d+)/.exec(message)?.[1]
  if (position === undefined) return message
  const before = text.slice(0, Number(position)).split('\n')
  return `${message.replace(/ in JSON at position.*/, '')} at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}
