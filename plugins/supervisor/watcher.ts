import { type ChildProcess, spawn } from 'node:child_process'
import type { Launch } from './launch-supervisor.ts'

/**
 * A process that starts a new supervisor when this one was killed. It is a shell that waits on a pipe: the
 * kernel closes the pipe when this process ends, however it ends. It costs about one megabyte.
 */
export interface Watcher {
  /** Starts the watcher, also after it was killed itself. */
  start(): void
  /** Kills the watcher, synchronously; the supervisor may end after that. */
  stop(): void
}

/** Reads until the pipe closes, then becomes the new supervisor. */
const WAIT_THEN_RUN = 'read -r _; exec "$@" </dev/null'

export function createWatcher({ command, env }: Launch): Watcher {
  let running: ChildProcess | undefined
  return {
    start() {
      if (running || process.platform === 'win32') return
      const child = spawn('/bin/sh', ['-c', WAIT_THEN_RUN, 'sh', ...command], {
        detached: true,
        stdio: ['pipe', 2, 2],
        cwd: '/',
        env,
      })
      running = child
      const forget = () => {
        if (running === child) running = undefined
      }
      child.on('error', forget)
      child.on('exit', forget)
      child.stdin?.on('error', () => undefined) // the watcher was killed
      child.unref()
    },
    stop() {
      running?.kill('SIGKILL')
      running = undefined
    },
  }
}
