import { PassThrough, type Readable } from 'node:stream'
import type { Instance, LogOptions } from '../../src/contracts/runtime.ts'
import { isFailure } from '../../src/errors.ts'
import { diagnose } from './diagnose.ts'
import type { Dialect } from './dialect.ts'
import type { EngineCli } from './engine-cli.ts'

/**
 * Standard output and error of an instance in one stream. Closing the stream ends the program behind
 * it. The stream breaks with `runtime_unavailable` when the engine goes away.
 */
export function openLogs(options: {
  dialect: Dialect
  cli: EngineCli
  instance: Instance
  log: LogOptions
}): Readable {
  const { dialect, cli, instance, log } = options
  const call = cli.open([
    'logs',
    ...(log.follow ? ['--follow'] : []),
    ...(log.timestamps ? ['--timestamps'] : []),
    ...(log.since ? [`--since=${log.since.toISOString()}`] : []),
    ...(log.lines ? [`--tail=${log.lines}`] : []),
    '--',
    instance.id,
  ])
  call.stdin.end()
  const merged = new PassThrough()
  let open = 2
  let said = ''
  const endOne = async () => {
    open -= 1
    if (open > 0) return
    const code = await call.ended
    const failure = code ? diagnose(dialect, said, { doing: 'read the log', name: instance.name }) : undefined
    if (failure && isFailure(failure, 'runtime_unavailable') && !log.signal?.aborted) merged.destroy(failure)
    else merged.end()
  }
  call.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-2000)
  })
  for (const stream of [call.stdout, call.stderr]) {
    stream.pipe(merged, { end: false })
    stream.once('end', () => void endOne())
    stream.once('error', () => void endOne())
  }
  const stop = () => {
    call.kill()
    merged.end()
  }
  merged.once('close', () => {
    log.signal?.removeEventListener('abort', stop)
    call.kill()
  })
  if (log.signal?.aborted) stop()
  else log.signal?.addEventListener('abort', stop, { once: true })
  return merged
}
