import { accessSync, constants, fstatSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { createRowFinder, type End } from './tcp-table.ts'

/** Tells connections of this user from those of other users of the machine. */
export interface PeerOwners {
  /**
   * Whether the process at the other end of a connection within this machine is this user's, or root's.
   * False for whoever cannot be found: an end that was closed at once has no owner any more.
   */
  isOurs(socket: Socket): Promise<boolean>
}

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const
/** Twice, since a row may be missed while others of its hash bucket come and go. */
const TRIES = 2
/** What uids of other user namespaces are shown as (user_namespaces(7)). */
const OVERFLOW_UID = 65534
const PIECE_BYTES = 64 * 1024

/** Undefined where the kernel does not say: not on Linux, or without `/proc`. */
export function createPeerOwners(): PeerOwners | undefined {
  const uid = process.geteuid?.()
  if (process.platform !== 'linux' || uid === undefined) return undefined
  try {
    accessSync(TABLES[0], constants.R_OK)
  } catch {
    return undefined
  }
  return peerOwners({ uid: uid === OVERFLOW_UID && hidesUids() ? undefined : uid, readTable })
}

/** With the tables from elsewhere, for tests. */
export function peerOwners(options: {
  /** Ours; undefined: only root's connections are. */
  uid: number | undefined
  /** Gives pieces of whole rows to `see` until that returns false. */
  readTable: (path: string, see: (piece: Buffer) => boolean) => Promise<void>
}): PeerOwners {
  const { uid, readTable } = options
  let waiting: Question[] = []
  let reading = false

  /** One read is for all who ask before it begins: a row of a later one may stand where it has been already. */
  async function readOn(): Promise<void> {
    reading = true
    while (waiting.length > 0) {
      const round = waiting
      waiting = []
      const owners = await findOwners(round, readTable).catch(() => round.map(() => undefined))
      for (const [index, question] of round.entries()) {
        const owner = owners[index]
        question.tries++
        if (owner === undefined && question.tries < TRIES) waiting.push(question)
        else question.answer(owner)
      }
    }
    reading = false
  }

  return {
    async isOurs(socket) {
      const end = endOf(socket)
      if (!end) return false
      const { promise, resolve } = Promise.withResolvers<number | undefined>()
      waiting.push({ ...end, tries: 0, answer: resolve })
      // All connections of one turn of the event loop are in the first round.
      if (!reading && waiting.length === 1) setImmediate(readOn)
      const owner = await promise
      return owner !== undefined && (owner === 0 || owner === uid)
    },
  }
}

interface Question {
  readonly theirs: End
  readonly ours: End
  readonly inode: number
  tries: number
  readonly answer: (owner: number | undefined) => void
}

function endOf(socket: Socket): Pick<Question, 'theirs' | 'ours' | 'inode'> | undefined {
  const { localAddress, localPort, remoteAddress, remotePort } = socket
  const inode = inodeOf(socket)
  if (!localAddress || !localPort || !remoteAddress || !remotePort || inode === undefined) return undefined
  const local = { address: localAddress, port: localPort }
  const remote = { address: remoteAddress, port: remotePort }
  return { theirs: { local: remote, remote: local }, ours: { local, remote }, inode }
}

/** Node has no other way to the file descriptor of a connection. */
function inodeOf(socket: Socket): number | undefined {
  const { fd } = (socket as Socket & { _handle?: { fd?: number } })._handle ?? {}
  if (fd === undefined || fd < 0) return undefined
  try {
    return fstatSync(fd).ino
  } catch {
    return undefined
  }
}

/**
 * The uid at the other end of each connection. Our own end has to be in the table as well, with the inode that
 * we hold: once a connection was reset, another process may have a new one between the same two ports.
 */
async function findOwners(
  questions: readonly Question[],
  readTable: (path: string, see: (piece: Buffer) => boolean) => Promise<void>,
): Promise<(number | undefined)[]> {
  const finder = createRowFinder(questions.flatMap(({ theirs, ours }) => [theirs, ours]))
  for (const table of TABLES) {
    if (finder.found.size === questions.length * 2) break
    await readTable(table, piece => {
      finder.read(piece)
      return finder.found.size < questions.length * 2
    })
  }
  return questions.map(({ inode }, index) =>
    finder.found.get(index * 2 + 1)?.inode === inode ? finder.found.get(index * 2)?.uid : undefined,
  )
}

/** A kernel without IPv6 has no table of it. */
async function readTable(path: string, see: (piece: Buffer) => boolean): Promise<void> {
  const file = await open(path).catch(error => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!file) return
  try {
    const buffer = Buffer.allocUnsafe(PIECE_BYTES)
    let kept = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, kept, buffer.length - kept)
      if (bytesRead === 0) return
      const end = kept + bytesRead
      const whole = buffer.lastIndexOf(0x0a, end - 1) + 1
      if (!see(buffer.subarray(0, whole))) return
      kept = buffer.copy(buffer, 0, whole, end)
    }
  } finally {
    await file.close()
  }
}

/** Whether uids of others may be shown as the overflow uid. */
function hidesUids(): boolean {
  try {
    return !/^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'utf8'))
  } catch {
    return true
  }
}
