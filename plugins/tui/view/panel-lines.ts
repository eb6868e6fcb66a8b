import { Box } from 'ink'
import { createElement as h, type ReactElement } from 'react'
import { KeyBar } from './key-bar.ts'
import type { KeyHint } from './keys.ts'
import { line } from './lines.ts'

/** The lines of a panel, or what stands for none, and below them its keys, if they work now. */
export function panelLines(
  lines: readonly ReactElement[],
  options: { height: number; width: number; nothing: string; keys: readonly KeyHint[] | undefined },
): ReactElement {
  const { height, width, nothing, keys } = options
  return h(
    Box,
    { flexDirection: 'column', height },
    h(
      Box,
      { flexDirection: 'column', height: height - (keys ? 1 : 0) },
      ...(lines.length ? lines : [line(nothing, { key: '' })]),
    ),
    keys ? h(KeyBar, { keys, width }) : null,
  )
}
