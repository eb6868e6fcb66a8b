/** Edits (insert, delete, replace, swap of neighbours) that turn one word into the other. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let best = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (before[j - 2] ?? 0) + 1)
      row.push(best)
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}

/** The nearest of the words when one is near enough to be a typing mistake. */
export function suggest(word: string, words: Iterable<string>): string | undefined {
  let best: { word: string; distance: number } | undefined
  for (const candidate of words) {
    const d = distance(word.toLowerCase(), candidate.toLowerCase())
    if (!best || d < best.distance) best = { word: candidate, distance: d }
  }
  return best && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.word : undefined
}
