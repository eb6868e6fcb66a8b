const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** A number of bytes for people, with three digits: `512 bytes`, `1.50 MiB`. */
export function formatSize(bytes: number): string {
  if (bytes === 1) return '1 byte'
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const amount = bytes / 1024 ** power
  const digits = power === 0 || amount >= 100 ? 0 : amount >= 10 ? 1 : 2
  return `${amount.toFixed(digits)} ${UNITS[power]}`
}
