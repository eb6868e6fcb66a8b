import { useEffect, useState } from 'react'
import type { Row, Workbench } from '../workbench.ts'

const LOOK_MS = 1000

interface Known {
  /** Undefined until they have been read once. */
  readonly rows?: readonly Row[]
  /** Why they cannot be read. */
  readonly problem?: string
}

/** All workloads, looked at once a second. */
export function useWorkloads(bench: Workbench): Known {
  const [known, setKnown] = useState<Known>({})
  useEffect(() => {
    let timer: NodeJS.Timeout | undefined
    let isOver = false
    async function look() {
      const next = await bench.list().then(
        (rows): Known => ({ rows }),
        (error: Error): Known => ({ problem: error.message }),
      )
      if (isOver) return
      setKnown(before => {
        const merged = { ...before, problem: undefined, ...next } as Known
        return JSON.stringify(merged) === JSON.stringify(before) ? before : merged
      })
      timer = setTimeout(look, LOOK_MS)
    }
    void look()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [bench])
  return known
}
