/** For example “1 line” and “2 lines”. */
export const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`
