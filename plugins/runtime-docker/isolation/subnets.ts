import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'

/** Networks of this size: gateway, instance, and three addresses to spare (RFC 950: first and last have no host). */
const PREFIX = 29
const SIZE = 8

export interface Subnet {
  readonly cidr: string
  /** The first address, which is this host's. The instance gets the next one. */
  readonly gateway: string
}

interface Range {
  readonly first: number
  readonly size: number
}

/** Where networks of isolated workloads come from unless KEELSON_ISOLATION_RANGE says otherwise. */
export const DEFAULT_RANGE = '10.213.0.0/16'

/** Reads `10.213.0.0/16`; undefined when it is not a range or holds fewer than two networks. */
export function parseRange(text: string): Range | undefined {
  const [, address = '', prefix = ''] = /^([\d.]+)\/(\d+)$/.exec(text) ?? []
  const first = toNumber(address)
  const length = Number(prefix)
  if (first === undefined || length > PREFIX - 1 || length < 8) return undefined
  const size = 2 ** (32 - length)
  return { first: first - (first % size), size }
}

/**
 * Candidates for the network of an instance, the one that it had last time first: the same name begins
 * at the same place. Half of the range belongs to each of two engines, since neither sees the other's.
 */
export function* candidates(
  range: Range,
  { name, half }: { name: string; half: 0 | 1 },
): Generator<Subnet & { overlaps(taken: readonly Range[]): boolean }> {
  const count = Math.floor(range.size / SIZE / 2)
  const start = createHash('sha256').update(name).digest().readUInt32BE(0) % count
  for (let step = 0; step < count; step++) {
    const first = range.first + (half * count + ((start + step) % count)) * SIZE
    yield {
      cidr: `${toText(first)}/${PREFIX}`,
      gateway: toText(first + 1),
      overlaps: taken => taken.some(one => first < one.first + one.size && one.first < first + SIZE),
    }
  }
}

/** Networks that this host has a route to (the default route aside): a workload's must not hide one. */
export async function takenRanges(): Promise<Range[]> {
  const local = Object.values(networkInterfaces()).flatMap(list => list ?? [])
  const ranges = local.flatMap(({ cidr }) => toRange(cidr ?? ''))
  // proc(5): destination and mask as little-endian hexadecimal in fields 2 and 8.
  const routes = await readFile('/proc/net/route', 'utf8').catch(() => '')
  for (const line of routes.split('\n').slice(1)) {
    const fields = line.split('\t')
    const first = fromHex(fields[1] ?? '')
    const mask = fromHex(fields[7] ?? '')
    if (first !== undefined && mask) ranges.push({ first, size: 2 ** 32 - mask })
  }
  return ranges
}

function toRange(cidr: string): Range[] {
  const [, address = '', prefix = ''] = /^([\d.]+)\/(\d+)$/.exec(cidr) ?? []
  const value = toNumber(address)
  if (value === undefined) return []
  const size = 2 ** (32 - Number(prefix))
  return [{ first: value - (value % size), size }]
}

function fromHex(text: string): number | undefined {
  if (!/^[0-9A-F]{8}$/i.test(text)) return undefined
  return Buffer.from(text, 'hex').readUInt32LE(0)
}

function toNumber(address: string): number | undefined {
  const parts = address.split('.').map(Number)
  if (parts.length !== 4 || parts.some(part => !(part >= 0 && part <= 255))) return undefined
  return parts.reduce((sum, part) => sum * 256 + part, 0)
}

/** The address so many steps further on: the instance's is next to its gateway's, the helper's next to that. */
export const nextAddress = (address: string, steps = 1): string => toText((toNumber(address) ?? 0) + steps)

const toText = (value: number): string =>
  [24, 16, 8, 0].map(shift => Math.floor(value / 2 ** shift) % 256).join('.')
