import { once } from 'node:events'
import { fstatSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createPeerOwners, peerOwners } from '../../../src/net/peer-owner.ts'
import { kernelAddress } from '../../../src/net/tcp-table.ts'
import { allNeed } from '../../support/left-out.ts'

/** The accepted end of a connection of this process to itself. */
async function accepted(host = '127.0.0.1'): Promise<{ socket: Socket; client: Socket }> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, host)
  const [[socket]] = await Promise.all([once(server, 'connection'), once(client, 'connect')])
  onTestFinished(() => {
    for (const one of [client, socket]) one.on('error', () => undefined).destroy()
    server.close()
  })
  return { socket: socket as Socket, client }
}

const inodeOf = (socket: Socket): number =>
  fstatSync((socket as Socket & { _handle: { fd: number } })._handle.fd).ino

const HEADER =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n'
const hex = (port: number | undefined) => (port ?? 0).toString(16).toUpperCase().padStart(4, '0')

/** A table with the two ends of a connection, as the kernel writes them (proc_net_tcp(5)). */
function tableOf(
  { localPort, remotePort }: Socket,
  {
    uid,
    inode,
    ours,
    address = kernelAddress('127.0.0.1'),
  }: { uid: number; inode: number; ours: number; address?: string | undefined },
): string {
  const row = (sl: number, from: number | undefined, to: number | undefined, owner: number, ino: number) =>
    `${String(sl).padStart(4)}: ${address}:${hex(from)} ${address}:${hex(to)} 01 00000000:00000000 00:00000000 00000000 ${String(owner).padStart(5)}        0 ${ino} 1 0000000000000000 20 4 0 10 -1\n`
  return `${HEADER}${row(0, 1, 2, 0, 9)}${row(12345, remotePort, localPort, uid, inode)}${row(12346, localPort, remotePort, 500, ours)}`
}

const withTable = (text: (reads: number) => string, uid: number | undefined = 500) => {
  const reads: string[] = []
  const owners = peerOwners({
    uid,
    async readTable(path, see) {
      reads.push(path)
      if (path.endsWith('tcp')) see(Buffer.from(text(reads.length)))
    },
  })
  return { owners, reads }
}

describe('on Linux', () => {
  allNeed(process.platform === 'linux' ? undefined : 'owners of connections are read from /proc (Linux)')

  test.each(['127.0.0.1', '::1'])('a connection of this process is its user’s, on %s', async host => {
    const { socket } = await accepted(host)
    expect(await createPeerOwners()?.isOurs(socket)).toBe(true)
  })

  test('an end that was closed is nobody’s', async () => {
    const { socket, client } = await accepted()
    client.resetAndDestroy()
    await once(client, 'close')
    expect(await createPeerOwners()?.isOurs(socket)).toBe(false)
  })
})

test.each([
  ['the own user', { uid: 500, inode: 7 }, true],
  ['root', { uid: 0, inode: 7 }, true],
  ['another user', { uid: 501, inode: 7 }, false],
  ['uid 0 without an inode, as a closed end is shown', { uid: 0, inode: 0 }, false],
  ['the own uid without an inode', { uid: 500, inode: 0 }, false],
  ['a user of another namespace', { uid: 65534, inode: 7 }, false],
])('%s', async (_, theirs, expected) => {
  const { socket } = await accepted()
  const { owners } = withTable(() => tableOf(socket, { ...theirs, ours: inodeOf(socket) }))
  expect(await owners.isOurs(socket)).toBe(expected)
})

test('a new connection between the same ports does not speak for one that was reset', async () => {
  const { socket } = await accepted()
  const { owners } = withTable(() => tableOf(socket, { uid: 500, inode: 7, ours: inodeOf(socket) + 1 }))
  expect(await owners.isOurs(socket)).toBe(false)
})

test('an IPv4 connection is found when an IPv6 socket has it', async () => {
  const { socket } = await accepted()
  const address = kernelAddress('::1')?.replace(
    /^.{24}/,
    kernelAddress('127.0.0.1') === '0100007F' ? '0000000000000000FFFF0000' : '00000000000000000000FFFF',
  )
  const mapped = `${address?.slice(0, 24)}${kernelAddress('127.0.0.1')}`
  const { owners } = withTable(() =>
    tableOf(socket, { uid: 500, inode: 7, ours: inodeOf(socket), address: mapped }),
  )
  expect(await owners.isOurs(socket)).toBe(true)
})

test('a row that is missed once is looked for once more, and not again', async () => {
  const { socket } = await accepted()
  const late = withTable(reads =>
    reads < 3 ? HEADER : tableOf(socket, { uid: 500, inode: 7, ours: inodeOf(socket) }),
  )
  expect(await late.owners.isOurs(socket)).toBe(true)
  const never = withTable(() => HEADER)
  expect(await never.owners.isOurs(socket)).toBe(false)
  expect(never.reads).toHaveLength(4)
})

test('who comes while a table is read waits for the next one, all of them together', async () => {
  const one = await accepted()
  const two = await accepted()
  const three = await accepted()
  const rows = [one, two, three].map(({ socket }) =>
    tableOf(socket, { uid: 500, inode: 7, ours: inodeOf(socket) }),
  )
  const { owners, reads } = withTable(() => rows.join(''))
  const first = owners.isOurs(one.socket)
  await new Promise(setImmediate)
  const others = [owners.isOurs(two.socket), owners.isOurs(three.socket)]
  expect(await Promise.all([first, ...others])).toEqual([true, true, true])
  expect(reads).toEqual(['/proc/net/tcp', '/proc/net/tcp'])
})

test('a table that cannot be read lets nobody in', async () => {
  const { socket } = await accepted()
  const owners = peerOwners({ uid: 500, readTable: () => Promise.reject(new Error('EMFILE')) })
  expect(await owners.isOurs(socket)).toBe(false)
})
