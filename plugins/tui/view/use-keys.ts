import { type Key, useInput } from 'ink'
import { useReducer, useRef } from 'react'

type OnKey = (input: string, key: Key) => void

/** As `useInput`; tabs and line breaks that arrive together with other keys, as on slow connections, are keys of their own. */
export function useKeys(onKey: OnKey, { isActive }: { isActive: boolean }): void {
  useInput(
    (input, key) => {
      if (key.return || key.tab || !/[\t\r\n]/.test(input)) return onKey(input, key)
      for (const part of input.split(/(\t|\r\n|\r|\n)/).filter(Boolean)) {
        if (part === '\t') onKey('', { ...key, tab: true })
        else if (/[\r\n]/.test(part)) onKey('', { ...key, return: true })
        else onKey(part, key)
      }
    },
    { isActive },
  )
}

/** State that is read as it is now: several keys may come before the view is drawn again. */
export interface Live<T> {
  readonly now: T
  set(value: T): void
}

export function useLive<T>(initial: () => T): Live<T> {
  const held = useRef<{ value: T }>(undefined)
  held.current ??= { value: initial() }
  const [, draw] = useReducer((times: number) => times + 1, 0)
  const { current } = held
  return {
    get now() {
      return current.value
    },
    set(value) {
      current.value = value
      draw()
    },
  }
}
