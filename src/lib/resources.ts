import type { Schema } from './schema.ts'
import { toTextCheck } from './text-schema.ts'

const GIB = 2 ** 30

/**
 * The default limits of an instance: enough for servers that drive a browser or hold
 * a language server, too little to make a laptop unusable. Bytes, cores, processes and threads.
 */
export const DEFAULT_LIMITS = { memory: 2 * GIB, cpus: 2, pids: 512 } as const

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
}

/** The schema of a size: `536870912`, `512m`, `1.5g`, `512Mi`. */
export const memorySize: Schema<string> = {
  type: 'string',
  pattern: '^\\s*(\\d+(?:\\.\\d+)?)\\s*([bkmgtBKMGT]?)[iI]?[bB]?\\s*$',
  description: 'A size such as 512m or 2g',
}
const SIZE = new RegExp(memorySize.pattern ?? '', 'u')

/** Reads a size as bytes; undefined when the text is not one. */
export function parseMemory(text: string): number | undefined {
  const [, amount, unit = ''] = SIZE.exec(text) ?? []
  const bytes = Math.floor(Number(amount) * (UNITS[unit.toLowerCase()] ?? 1))
  return amount === undefined || bytes <= 0 ? undefined : bytes
}

/** The schema of a number of cores: `0.5` or `2`. */
export const coreCount: Schema<string> = {
  type: 'string',
  pattern: '^\\s*\\d*\\.?\\d+\\s*$',
  description: 'A number of cores such as 0.5 or 2',
}
const isCoreCount = toTextCheck(coreCount)

/** Reads a number of cores; undefined when the text is not one. */
export function parseCpus(text: string): number | undefined {
  const cpus = Number(text)
  return isCoreCount(text) && cpus > 0 ? cpus : undefined
}
