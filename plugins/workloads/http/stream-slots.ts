import { failures } from '../failures.ts'

/** Keeps the number of open streams within bounds: each holds a connection, some a process. */
export interface StreamSlots {
  /** Takes a slot. Returns a function that gives it back, once. Fails with `streams_exhausted`. */
  take(): () => void
}

export function createStreamSlots(most: number): StreamSlots {
  let taken = 0
  return {
    take() {
      if (taken >= most) throw failures.streams_exhausted({ most })
      taken++
      let mine = true
      return () => {
        if (mine) taken--
        mine = false
      }
    },
  }
}
