import { useEffect, useRef, useState } from 'preact/hooks'

/** What came of it, or why nothing did; `took` in milliseconds. */
export interface Outcome<T> {
  readonly result?: T
  readonly problem?: string
  readonly took: number
}

interface Options {
  readonly signal: AbortSignal
  readonly onProgress: (text: string) => void
}

/** Something a server is asked for, one at a time. It is cancelled when whoever asks goes away. */
export function useWork<T>({ begun, cancelled }: { begun: string; cancelled: string }) {
  /** What is going on; undefined when nothing is. */
  const [state, setState] = useState<string | undefined>()
  const [outcome, setOutcome] = useState<Outcome<T> | undefined>()
  const running = useRef<AbortController | undefined>()
  const cancel = () => running.current?.abort()
  useEffect(() => cancel, [])

  async function run(work: (options: Options) => Promise<T>) {
    if (state !== undefined) return
    const ending = new AbortController()
    running.current = ending
    setState(begun)
    setOutcome(undefined)
    const start = performance.now()
    const took = () => performance.now() - start
    try {
      const result = await work({ onProgress: setState, signal: ending.signal })
      setOutcome({ result, took: took() })
    } catch (error) {
      const problem = ending.signal.aborted ? cancelled : (error as Error).message
      setOutcome({ problem, took: took() })
    }
    setState(undefined)
  }
  return { state, outcome, run, cancel }
}
