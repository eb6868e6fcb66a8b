import { unwatchFile, watchFile } from 'node:fs'

const INTERVAL_MS = 1000

/**
 * Calls back when the file may have changed, also where another one took its place. It is looked at every second:
 * notices of the system get lost on some file systems, and end when the file is replaced. Returns what ends it.
 */
export function watchConfigFile(path: string, onChange: () => void): () => void {
  const listener = () => onChange()
  watchFile(path, { interval: INTERVAL_MS, persistent: false }, listener)
  return () => unwatchFile(path, listener)
}
