/** Whether a name is one of these names or matches one of these patterns, in which `*` stands for any characters. */
export function createNames(names: readonly string[]): (name: string) => boolean {
  const exact = new Set(names.filter(name => !isPattern(name)))
  const patterns = names.filter(isPattern).map(createPattern)
  return name => exact.has(name) || patterns.some(matches => matches(name))
}

export const isPattern = (name: string): boolean => name.includes('*')

/** Looks for the parts between the stars from left to right, which needs no backtracking. */
export function createPattern(pattern: string): (name: string) => boolean {
  const parts = pattern.split(/\*+/)
  const first = parts.shift() ?? ''
  const last = parts.pop() ?? ''
  return name => {
    if (!name.startsWith(first) || !name.endsWith(last)) return false
    let end = first.length
    for (const part of parts) {
      const at = name.indexOf(part, end)
      if (at < 0) return false
      end = at + part.length
    }
    return end <= name.length - last.length
  }
}
