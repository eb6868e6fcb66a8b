import { Box } from 'ink'
import { createElement as h, useEffect, useRef, useState } from 'react'
import { clean } from '../../../src/lib/printable.ts'
import type { Tool } from '../workbench.ts'
import { KeyBar } from './key-bar.ts'
import { FORM_KEYS } from './keys.ts'
import { line, windowOf, wrapLines } from './lines.ts'
import type { PanelProps } from './panel.ts'
import { readArguments, readFields } from './read-fields.ts'
import { useKeys, useLive } from './use-keys.ts'

/** Asks for the arguments of a tool, calls it and shows what it returned. */
export function ToolForm(props: PanelProps & { tool: Tool }) {
  const { tool, width, height, isActive, onLeave } = props
  const [fields] = useState(() => readFields(tool.inputSchema))
  const typed = useLive<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(fields.map(({ name, preset }) => [name, preset])),
  )
  const at = useLive(() => 0)
  const [above, setAbove] = useState(0)
  const { outcome, isCalling, call, cancel } = useCall(props)
  const type = (change: (text: string) => string) => {
    const { name } = fields[at.now] ?? {}
    if (name !== undefined) typed.set({ ...typed.now, [name]: change(typed.now[name] ?? '') })
  }

  useKeys(
    (input, key) => {
      if (key.escape) isCalling ? cancel() : onLeave()
      else if (key.upArrow || (key.tab && key.shift)) at.set(Math.max(0, at.now - 1))
      else if (key.downArrow || key.tab) at.set(Math.min(fields.length - 1, at.now + 1))
      else if (key.pageUp) setAbove(before => Math.max(0, before - 5))
      else if (key.pageDown) setAbove(before => before + 5)
      else if (key.return) {
        const read = readArguments(fields, typed.now)
        setAbove(0)
        if ('problem' in read) at.set(read.field)
        call(read)
      } else if (key.backspace || key.delete) type(text => [...text].slice(0, -1).join(''))
      else if (!key.ctrl && !key.meta) type(text => text + clean(input))
    },
    { isActive },
  )

  const formHeight = Math.min(fields.length, Math.max(1, Math.floor((height - 3) / 2)))
  const result = wrapLines(outcome, width)
  const resultHeight = Math.max(0, height - formHeight - 3)
  const first = Math.min(above, Math.max(0, result.length - resultHeight))
  return h(
    Box,
    { flexDirection: 'column', height },
    line(clean(`${tool.name}: ${tool.description}`), { bold: true }),
    ...windowOf(fields, { height: formHeight, chosen: at.now }).map(one => {
      const isChosen = one === fields[at.now]
      const hint = isChosen || !typed.now[one.name] ? `   (${one.hint})` : ''
      const text = `${isChosen ? '> ' : '  '}${one.name}: ${typed.now[one.name] ?? ''}${isChosen ? '_' : ''}${hint}`
      return line(clean(text), { key: one.name })
    }),
    ...(fields.length ? [] : [line('It takes no arguments.', { key: '' })]),
    h(
      Box,
      { key: 'result', flexDirection: 'column', height: resultHeight, marginTop: 1 },
      ...result.slice(first, first + resultHeight).map((text, key) => line(text, { key })),
    ),
    h(KeyBar, { key: 'keys', keys: FORM_KEYS, width }),
  )
}

/** One call at a time; it is cancelled when the form is left. */
function useCall({ bench, row, tool }: PanelProps & { tool: Tool }) {
  const [outcome, setOutcome] = useState('')
  const [isCalling, setCalling] = useState(false)
  const running = useRef<AbortController>(undefined)
  const cancel = () => running.current?.abort()
  useEffect(() => () => running.current?.abort(), [])

  async function run(args: Record<string, unknown>): Promise<string> {
    const ending = new AbortController()
    running.current = ending
    const onProgress = (text: string) => setOutcome(`Calling ... ${text}`)
    try {
      const { text, isError } = await bench.call(
        row.name,
        { tool: tool.name, args, onProgress },
        ending.signal,
      )
      return isError ? `The tool reports that it failed.\n${text}` : text
    } catch (error) {
      return ending.signal.aborted ? 'The call was cancelled.' : clean((error as Error).message)
    }
  }

  function call(read: ReturnType<typeof readArguments>): void {
    if (isCalling) return
    if ('problem' in read) {
      setOutcome(clean(read.problem))
      return
    }
    setOutcome('Calling ...')
    setCalling(true)
    void run(read.args).then(text => {
      setOutcome(text)
      setCalling(false)
    })
  }
  return { outcome, isCalling, call, cancel }
}
