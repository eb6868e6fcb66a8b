/** A line of a log as it is read: JSON lines of the proxy as time, level, message and the rest. */
export function logLine(line: string): { readonly time?: Date; readonly text: string } {
  if (!line.startsWith('{')) return { text: line }
  try {
    const { time, level, msg, ...rest } = JSON.parse(line)
    if (typeof msg !== 'string') return { text: line }
    const at = new Date(time)
    const members = Object.entries(rest).map(
      ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    const text = [String(level ?? ''), msg, ...members].filter(Boolean).join('  ')
    return Number.isNaN(at.getTime()) ? { text } : { time: at, text }
  } catch {
    return { text: line }
  }
}
