import { Text, useWindowSize } from 'ink'
import { createElement as h, type ReactElement } from 'react'

interface Style {
  readonly color?: string | undefined
  readonly inverse?: boolean
  readonly dimColor?: boolean
  readonly bold?: boolean
  /** In characters; by default that of the terminal. */
  readonly width?: number
}

/** One line of text, cut where it ends. The library would write a sign there that not every locale has. */
function Line({ text, color, width, ...style }: Style & { text: string }): ReactElement {
  const { columns } = useWindowSize()
  const shown = [...text].slice(0, width ?? columns).join('')
  return h(Text, { wrap: 'truncate-end', ...(color ? { color } : {}), ...style }, shown || ' ')
}

export const line = (text: string, options: Style & { key?: string | number } = {}): ReactElement =>
  h(Line, { text, ...options })

/** The part of a list that fits, with the chosen one in it. */
export function windowOf<T>(all: readonly T[], { height, chosen }: { height: number; chosen: number }): T[] {
  const start = Math.max(0, Math.min(chosen - Math.floor(height / 2), all.length - height))
  return all.slice(start, start + height)
}

/** Lines as wide as the terminal: long ones are broken. */
export const wrapLines = (text: string, width: number): string[] =>
  text.split('\n').flatMap(one => {
    const characters = [...one.replaceAll('\t', '  ')]
    const count = Math.max(1, Math.ceil(characters.length / width))
    return Array.from({ length: count }, (_, i) => characters.slice(i * width, (i + 1) * width).join(''))
  })
