import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { isRunning, processIdentity } from '../../src/lib/process-identity.ts'

/** Every process of an instance carries it in its environment: proof that it is the instance's. */
export const MARK = 'KEELSON_INSTANCE'

const POLL_MS = 50

export interface Group {
  /** Identity of the leader, whose number is the group's too. */
  readonly leader: string
  /** The instance's id, as its processes carry it. */
  readonly mark: string
  /** Whether the leader is bubblewrap, which must outlive what it holds. */
  readonly sandboxed: boolean
}

const numberOf = (leader: string): number => Number.parseInt(leader, 10)

/** Asks the group to end, waits, then kills. Signals only what is proven to be the instance's. */
export async function endGroup(group: Group, graceMs: number): Promise<void> {
  const deadline = Date.now() + graceMs
  let asked = false
  while (isRunning(group.leader) && Date.now() < deadline) {
    if (!asked) asked = await ask(group)
    await delay(POLL_MS)
  }
  if (isRunning(group.leader)) signal(-numberOf(group.leader), 'SIGKILL')
  await killLeftovers(group)
  // A killed process may take a moment to go.
  for (const end = Date.now() + 5000; isRunning(group.leader) && Date.now() < end; ) await delay(POLL_MS)
}

/**
 * Sends SIGTERM. Returns false when there is no process yet to send it to. Bubblewrap would end at once and
 * kill what runs inside without a chance to clean up. So only the processes inside get the signal, and
 * bubblewrap ends with them.
 */
async function ask({ leader, sandboxed }: Group): Promise<boolean> {
  if (!sandboxed) {
    signal(-numberOf(leader), 'SIGTERM')
    return true
  }
  const inside: string[] = []
  for (const identity of await members(numberOf(leader))) {
    if (await isInside(numberOf(identity))) inside.push(identity)
  }
  for (const identity of inside) if (isRunning(identity)) signal(numberOf(identity), 'SIGTERM')
  return inside.length > 0
}

/** proc(5): `NSpid` lists the number in each namespace; bubblewrap's own process inside is number 1. */
async function isInside(pid: number): Promise<boolean> {
  const [numbers, ours] = await Promise.all([namespaceNumbers(pid), namespaceNumbers('self')])
  return numbers.length > ours.length && numbers.at(-1) !== '1'
}

async function namespaceNumbers(pid: number | 'self'): Promise<string[]> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return /^NSpid:\s*(.+)$/m.exec(status)?.[1]?.split(/\s+/) ?? []
}

/** Kills what a group still holds after its leader has gone; only those that carry the mark. */
export async function killLeftovers({ leader, mark }: Group): Promise<void> {
  for (const identity of await members(numberOf(leader))) {
    if ((await isMarked(numberOf(identity), mark)) && isRunning(identity))
      signal(numberOf(identity), 'SIGKILL')
  }
}

/** Identities of the processes in a group. proc(5): field 5 of `stat`; Linux only, empty elsewhere. */
export async function members(group: number): Promise<string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter(name => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async pid => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]) === group
        ? processIdentity(Number(pid))
        : undefined
    }),
  )
  return found.filter(identity => identity !== undefined)
}

async function isMarked(pid: number, mark: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  return environment.split('\0').includes(`${MARK}=${mark}`)
}

function signal(target: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(target, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
