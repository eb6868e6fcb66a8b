import { endianness } from 'node:os'

/** One end of a TCP connection: the row of a kernel table whose `local` and `remote` are these. */
export interface End {
  readonly local: { readonly address: string; readonly port: number }
  readonly remote: { readonly address: string; readonly port: number }
}

/** What the kernel says of one end. */
export interface Row {
  readonly uid: number
  /** 0: no process has it open any more (closed, TIME_WAIT, not accepted yet). */
  readonly inode: number
}

const LITTLE = endianness() === 'LE'
/** `::ffff:0:0/96` as the kernel writes it. */
const MAPPED = LITTLE ? '0000000000000000FFFF0000' : '00000000000000000000FFFF'
const LOOPBACK_6 = LITTLE ? '00000000000000000000000001000000' : '00000000000000000000000000000001'

/**
 * An address as the kernel writes it: 32-bit words in the byte order of the machine, in hexadecimal. An IPv4
 * address is the same whether a socket of IPv4 or IPv6 has it. Of IPv6 only `::1` is known.
 */
export function kernelAddress(address: string): string | undefined {
  if (address === '::1') return LOOPBACK_6
  const parts = address.replace(/^::ffff:/i, '').split('.')
  if (parts.length !== 4) return undefined
  const bytes = parts.map(part => Number(part).toString(16).padStart(2, '0').toUpperCase())
  return (LITTLE ? bytes.reverse() : bytes).join('')
}

const withoutMapping = (address: string): string =>
  address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address

/**
 * Finds rows in `/proc/net/tcp` and `tcp6` (proc_net_tcp(5)) while they are read, piece by piece.
 *
 * A table may have tens of thousands of rows. Of each only the two ports are read, as bytes; nothing is
 * made of a row with other ports.
 */
export function createRowFinder(ends: readonly End[]): {
  /** Looks through a piece of a table that ends with the end of a row. */
  read(piece: Buffer): void
  /** Rows with an inode, by the index of their end. */
  readonly found: ReadonlyMap<number, Row>
} {
  const byPorts = new Map<number, number[]>()
  for (const [index, { local, remote }] of ends.entries()) {
    const key = local.port * 0x10000 + remote.port
    byPorts.set(key, [...(byPorts.get(key) ?? []), index])
  }
  const keys = ends.map(
    ({ local, remote }) => `${kernelAddress(local.address)} ${kernelAddress(remote.address)}`,
  )
  const found = new Map<number, Row>()

  function keep(row: string, indices: readonly number[]): void {
    // sl, local, remote, state, queues, timer, retransmissions, uid, timeout, inode
    const [, local = '', remote = '', , , , , uid, , inode] = row.trim().split(/\s+/)
    const key = [local, remote].map(end => withoutMapping(end.slice(0, end.indexOf(':')))).join(' ')
    const index = indices.find(candidate => keys[candidate] === key)
    if (index !== undefined && Number(inode) > 0) found.set(index, { uid: Number(uid), inode: Number(inode) })
  }

  return {
    found,
    read(piece) {
      for (let at = 0; at < piece.length; ) {
        const end = piece.indexOf(0x0a, at)
        const stop = end < 0 ? piece.length : end
        const local = piece.indexOf(0x3a, at) + 2
        const localPort = piece.indexOf(0x3a, local) + 1
        const remotePort = localPort + 4 + (localPort - local) + 1
        if (local > 1 && remotePort + 4 <= stop) {
          const indices = byPorts.get(hex4(piece, localPort) * 0x10000 + hex4(piece, remotePort))
          if (indices) keep(piece.toString('latin1', at, stop), indices)
        }
        at = stop + 1
      }
    },
  }
}

function hex4(bytes: Buffer, at: number): number {
  let value = 0
  for (let i = at; i < at + 4; i++) {
    const digit = bytes[i] as number
    value = value * 16 + (digit <= 0x39 ? digit - 0x30 : digit - 0x37)
  }
  return value
}
