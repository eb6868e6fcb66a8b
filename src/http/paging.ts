/** One page of a list, as the registry operations return it. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly metadata: { readonly total: number; readonly page: number; readonly limit: number }
}

const MOST = 200
const PRESET = 50

/** Cuts the page out of a list. Numbers that make no sense count as not given; beyond the end is empty. */
export function pageOf<T>(all: readonly T[], query: Readonly<Record<string, string | undefined>>): Page<T> {
  const page = positive(query.page) ?? 1
  const limit = Math.min(positive(query.limit) ?? PRESET, MOST)
  const start = (page - 1) * limit
  return { items: all.slice(start, start + limit), metadata: { total: all.length, page, limit } }
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text)
  return /^\d+$/.test(text ?? '') && value > 0 && Number.isSafeInteger(value) ? value : undefined
}
