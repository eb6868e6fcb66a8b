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

/** Reads `536870912`, `512m`, `1.5g`, `512Mi` as bytes; undefined when the text is not a size. */
export function parseMemory(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([bkmgt]?)i?b?$/i.exec(text.trim()) ?? []
  const bytes = Math.floor(Number(amount) * (UNITS[unit.toLowerCase()] ?? 1))
  return amount === undefined || bytes <= 0 ? undefined : bytes
}

/** Reads `0.5` or `2` as cores; undefined when the text is not a number. */
export function parseCpus(text: string): number | undefined {
  const cpus = Number(text)
  return /^\d*\.?\d+$/.test(text.trim()) && cpus > 0 ? cpus : undefined
}
