/** Longer texts are shown as they are: to read and write them again would keep the page waiting. */
const LONGEST = 1_000_000

/** JSON is easier to read with line breaks. */
export function pretty(text: string): string {
  if (text.length > LONGEST || !/^\s*[[{]/.test(text) || text.includes('\n')) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Whether a text is this value as JSON. */
export function isJsonOf(text: string, value: unknown): boolean {
  if (text.length > LONGEST) return false
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value)
  } catch {
    return false
  }
}
