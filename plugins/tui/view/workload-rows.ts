import { Box } from 'ink'
import { createElement as h } from 'react'
import type { Row } from '../workbench.ts'
import { line, windowOf } from './lines.ts'

const MARK = 2
const GAP = 2
const MOST_NAME = 24
const MOST_STATUS = 20
const MOST_URL = 40

/** The workloads with their status and URL; a mark stands before the chosen one. */
export function WorkloadRows(props: { rows: readonly Row[]; chosen: number; height: number; width: number }) {
  const { rows, chosen, height, width } = props
  const widest = (texts: string[], most: number) =>
    Math.min(most, Math.max(...texts.map(text => text.length)))
  const nameWidth = widest(
    rows.map(({ name }) => name),
    MOST_NAME,
  )
  const statusWidth = widest(
    rows.map(({ status }) => status),
    MOST_STATUS,
  )
  const urlWidth = widest(
    rows.map(({ url }) => url),
    MOST_URL,
  )
  const rest = Math.max(0, width - MARK - nameWidth - statusWidth - urlWidth - 3 * GAP)
  const cell = (text: string, to: number, options = {}) =>
    h(Box, { width: to, marginRight: GAP, flexShrink: 0 }, line(text, { ...options, width: to }))
  return h(
    Box,
    { flexDirection: 'column', width },
    ...windowOf(rows, { height, chosen }).map(({ name, status, colour, url, package: from }) => {
      const isChosen = name === rows[chosen]?.name
      return h(
        Box,
        { key: name, height: 1 },
        h(Box, { width: MARK, flexShrink: 0 }, line(isChosen ? '>' : '', { bold: isChosen })),
        cell(name, nameWidth, { bold: isChosen }),
        cell(status, statusWidth, colour ? { color: colour } : {}),
        cell(url, urlWidth),
        line(from, { dimColor: true, width: rest }),
      )
    }),
  )
}
