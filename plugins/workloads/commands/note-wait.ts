import type { Progress } from '../../../src/cli/progress.ts'

const AFTER_MS = 2000

/** Does the work, and says what it waits for when that takes longer than two seconds. */
export async function noteWait<T>(progress: Progress, text: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => progress.report(text), AFTER_MS)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}
