import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** What gets the focus when it comes to be seen. */
export function useFocus<T extends HTMLElement>(): RefObject<T> {
  const place = useRef<T>(null)
  useLayoutEffect(() => place.current?.focus(), [])
  return place
}
