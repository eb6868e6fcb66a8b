import { styleText } from 'node:util'
import { clean, printable, printableJson } from './lib/printable.ts'
import { redact } from './lib/redact.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'

/** Words for people on a terminal, JSON lines otherwise; always to standard error, secrets redacted. */
export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warn(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
  /** The same log with fields that every line carries. */
  with(fields: Record<string, unknown>): Log
}

const COLOUR = { debug: 'gray', info: 'cyan', warn: 'yellow', error: 'red' } as const

export function createLog(options: {
  write: (line: string) => void
  /** For a person; else JSON lines. */
  human: boolean
  debug: boolean
  now?: () => Date
  fields?: Record<string, unknown>
}): Log {
  const { write, human, debug, now = () => new Date(), fields: common = {} } = options
  const line = (level: Level) => (message: string, fields?: Record<string, unknown>) => {
    if (level === 'debug' && !debug) return
    const all = redact({ ...common, ...fields })
    const text = redact(message)
    if (!human) {
      const entry = { time: now().toISOString(), level: level.toUpperCase(), msg: text, ...all }
      return write(`${printableJson(JSON.stringify(entry))}\n`)
    }
    const extra = Object.entries(all).map(
      ([key, value]) => ` ${key}=${clean(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))}`,
    )
    write(
      `${styleText(COLOUR[level], level === 'warn' ? 'warning' : level)}: ${printable(text)}${styleText('gray', extra.join(''))}\n`,
    )
  }
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: fields => createLog({ ...options, fields: { ...common, ...fields } }),
  }
}
