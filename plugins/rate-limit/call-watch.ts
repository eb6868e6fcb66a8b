import type { Exchange } from '../../src/contracts/pipeline.ts'

/**
 * Calls `onEnd` once the call of an exchange has ended: with its response, with the connection of the client, or
 * when the backend says so that follows it.
 */
export function whenCallEnds(exchange: Exchange, onEnd: () => void): void {
  const { response } = exchange
  let isFollowed = false
  const followCall = () => {
    isFollowed = true
    return onEnd
  }
  exchange.followCall = followCall
  const onClose = () => {
    if (!isFollowed) onEnd()
  }
  if (response.destroyed) onClose()
  else response.once('close', onClose)
}

/** Gives the call of an exchange so many milliseconds. Returns the function that stops the clock. */
export function setDeadline(exchange: Exchange, ms: number): () => void {
  const deadline = new AbortController()
  exchange.deadline = deadline.signal
  const timer = setTimeout(() => deadline.abort(), ms)
  return () => clearTimeout(timer)
}
