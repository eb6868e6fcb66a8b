import { Fragment, createElement as h } from 'react'
import type { KeyHint } from './keys.ts'
import { line } from './lines.ts'

/** The keys that work now, on one line; where not all fit, the last ones are left out, but never the last two: help and the way out. */
export function KeyBar({ keys, width }: { keys: readonly KeyHint[]; width: number }) {
  const texts = keys.map(({ key, does }) => `${key} ${does}`)
  const fits = (shown: readonly string[]) => shown.join('  ').length <= width
  while (!fits(texts) && texts.length > 2) texts.splice(-3, 1)
  return h(Fragment, null, line(texts.join('  '), { inverse: true }))
}
