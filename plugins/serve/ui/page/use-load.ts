import { useEffect, useState } from 'preact/hooks'

/** What is read when a page opens; `again` reads it anew and keeps what is there in sight meanwhile. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>) {
  const [value, setValue] = useState<T | undefined>()
  const [problem, setProblem] = useState('')
  const [times, setTimes] = useState(0)
  useEffect(() => {
    const ending = new AbortController()
    const { signal } = ending
    load(signal).then(
      loaded => {
        if (signal.aborted) return
        setValue(loaded)
        setProblem('')
      },
      error => signal.aborted || setProblem(error.message),
    )
    return () => ending.abort()
  }, [times])
  return { value, problem, again: () => setTimes(times + 1) }
}
