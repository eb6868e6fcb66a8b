/** The middle one of repeated measurements. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** The median with the least and the most: what other programs did to the measurements shows in their distance. */
export function spread(values: readonly number[], digits = 2): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map(value => value.toFixed(digits))
  return `${median(values).toFixed(digits)} (${least}–${most})`
}

/** Ratios of what was measured in the same round, when the machine was as busy for both. */
export const ratios = (measured: readonly number[], byHand: readonly number[]): number[] =>
  measured.map((value, round) => value / (byHand[round] ?? Number.NaN))
