import { flag } from '../../src/cli/flags.ts'

const format = flag.choice('how to print', ['text', 'json'], 'text')

export const searchFlags = { format } as const

export const listFlags = {
  format,
  refresh: flag.boolean('ask a registry API even if what it said is less than an hour old'),
} as const
