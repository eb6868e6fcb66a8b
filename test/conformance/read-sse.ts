/** The data of the last event of a stream that has ended. */
export function readSse(text: string): string {
  const events = text.split(/\r?\n\r?\n/).filter(event => /^data:/m.test(event))
  return (events.at(-1) ?? '')
    .split(/\r?\n/)
    .filter(line => line.startsWith('data:'))
    .map(line => line.slice(5).trim())
    .join('\n')
}
