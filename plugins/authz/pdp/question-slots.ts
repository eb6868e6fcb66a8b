/** Lets a bounded number of questions be open, and a bounded number wait for their turn. */
export interface QuestionSlots {
  /** Does the work when it is its turn. Fails at once when too many wait, and while it waits when the signal aborts. */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>
}

export function createQuestionSlots({ open, waiting }: { open: number; waiting: number }): QuestionSlots {
  let taken = 0
  /** In their order; what is called has the slot. */
  const queue = new Set<() => void>()

  async function take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (taken < open) {
      taken++
      return
    }
    if (queue.size >= waiting) throw new Error(`it is busy, and ${waiting} questions wait for it`)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      queue.delete(resolve)
      reject(signal.reason)
    }
    queue.add(resolve)
    signal.addEventListener('abort', leave, { once: true })
    await promise.finally(() => signal.removeEventListener('abort', leave))
  }

  /** The slot goes to who waits longest. */
  function give(): void {
    const [next] = queue
    if (!next) taken--
    else {
      queue.delete(next)
      next()
    }
  }

  return {
    async run(signal, work) {
      await take(signal)
      try {
        return await work()
      } finally {
        give()
      }
    },
  }
}
