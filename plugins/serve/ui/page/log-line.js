/**
 * A line of a log as it is read: JSON lines of the proxy as time, level, message and the rest.
 * @param {string} line
 */
export function logLine(line) {
  if (!line.startsWith('{')) return line
  try {
    const { time, level, msg, ...rest } = JSON.parse(line)
    if (typeof msg !== 'string') return line
    const at = new Date(time)
    const clock = Number.isNaN(at.getTime()) ? '' : at.toLocaleTimeString(undefined, { hourCycle: 'h23' })
    const members = Object.entries(rest).map(
      ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    return [clock, String(level ?? ''), msg, ...members].filter(Boolean).join('  ')
  } catch {
    return line
  }
}
