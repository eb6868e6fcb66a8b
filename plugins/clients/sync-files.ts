import { isDeepStrictEqual } from 'node:util'
import { isFailure, messageOf } from '../../src/errors.ts'
import { type ClientFile, decodeText, readClientFile, replaceClientFile } from './client-file.ts'
import { type Edited, editEntries, type Wish } from './edit-entries.ts'
import { programIn, type Server } from './entry.ts'
import { failures } from './failures.ts'
import { FormatProblem } from './formats/format.ts'
import { formatOf } from './formats/format-of.ts'
import { CLIENTS, type ClientSpec } from './known-clients.ts'
import type { Program } from './program-in-use.ts'
import type { WrittenEntries, WrittenEntriesStore } from './written-entries.ts'

/** What each client's file should hold. */
export interface Target {
  readonly wanted: readonly Omit<Server, keyof Start>[]
  /** Servers that are neither up nor down for good: an entry that is there stays. */
  readonly kept: ReadonlySet<string>
}

/** How clients that cannot speak HTTP start keelson. */
type Start = Pick<Server, 'program' | 'folders'>

/** How often a file is read again that changed while we edited it. */
const TRIES = 8

/**
 * Makes the files hold what the targets say, by client id; a client without a target gets its entries
 * of ours removed. Returns what prevented that, client by client; the other clients' files are written.
 * The caller holds the lock.
 */
export async function syncFiles(options: {
  targets: ReadonlyMap<string, Target>
  /** Entries that are there stay, whatever the targets say. */
  keepsAll: boolean
  store: WrittenEntriesStore
  /** Path of a client's file. */
  pathOf: (client: ClientSpec) => string
  /** By how it was written for the client before. */
  start: (written: readonly Program[]) => Promise<Start>
}): Promise<Error[]> {
  const { targets, keepsAll, store, pathOf } = options
  const before = await store.read()
  const problems: Error[] = []
  const plans: Plan[] = []
  for (const client of CLIENTS) {
    const { wanted, kept } = targets.get(client.id) ?? { wanted: [], kept: new Set<string>() }
    const written = before.get(client.id) ?? new Map<string, readonly string[]>()
    if (wanted.length + written.size === 0) continue
    const keeps = keepsAll ? new Set([...kept, ...written.keys()]) : kept
    const start = await options.start(programsIn(written))
    const servers = wanted.map(server => ({ ...server, ...start }))
    const work = { client, path: pathOf(client), wish: { wanted: servers, kept: keeps, written } }
    try {
      plans.push(await plan(work))
    } catch (error) {
      problems.push(explain(work, error))
    }
  }
  if (plans.every(isDone(before))) return [...problems, ...plans.flatMap(foreignIn)]

  await store.save(withPlans(before, plans, 'intended'))
  const done: Plan[] = []
  await Promise.all(
    plans.map(async first => {
      try {
        done.push(await carryOut(first))
      } catch (error) {
        problems.push(explain(first, error))
      }
    }),
  )
  await store.save(withPlans(withPlans(before, plans, 'intended'), done, 'done'))
  return [...problems, ...done.flatMap(foreignIn)]
}

interface Work {
  readonly client: ClientSpec
  readonly path: string
  readonly wish: Wish
}

interface Plan extends Work {
  readonly file: ClientFile
  readonly edited: Edited
  /** The new content; undefined when the file is right as it is. */
  readonly bytes: Buffer | undefined
}

async function plan(work: Work): Promise<Plan> {
  const { client, path, wish } = work
  const file = await readClientFile(path)
  if (!file.bytes && wish.wanted.length === 0) {
    return {
      ...work,
      file,
      edited: { text: '', ours: new Map(), foreign: [], wasOurs: true },
      bytes: undefined,
    }
  }
  const decoded = file.bytes
    ? decodeText(file.bytes)
    : { text: client.format === 'json' ? '{}\n' : '', mark: '' }
  if (!decoded) throw new FormatProblem('it is not UTF-8 text')
  const edited = editEntries(client, await formatOf(client.format), decoded.text, wish)
  const bytes = edited.text === decoded.text ? undefined : Buffer.from(decoded.mark + edited.text)
  return { ...work, file, edited, bytes }
}

async function carryOut(first: Plan): Promise<Plan> {
  let next = first
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const { path, file, bytes, edited, wish } = next
    const secret = first.client.url !== undefined && wish.wanted.some(({ token }) => token !== undefined)
    if (!bytes || (await replaceClientFile(path, file, bytes, { backUp: !edited.wasOurs, secret })))
      return next
    next = await plan(first)
  }
  throw failures.client_file_changing({ client: first.client.id, path: first.path })
}

/** The record with the planned entries: before the files are written, or after. */
function withPlans(
  before: WrittenEntries,
  plans: readonly Plan[],
  when: 'intended' | 'done',
): WrittenEntries {
  const after = new Map(before)
  for (const { client, edited, wish } of plans) {
    const ours = [...edited.ours].map(([name, address]) => [name, [address]] as const)
    if (when === 'done') {
      after.set(client.id, new Map(ours))
      continue
    }
    const servers = new Map(wish.written)
    for (const [name, addresses] of ours)
      servers.set(name, [...new Set([...addresses, ...(servers.get(name) ?? [])])])
    after.set(client.id, servers)
  }
  return after
}

/** Whether neither the file nor the record has to change. */
const isDone =
  (before: WrittenEntries) =>
  ({ client, bytes, edited }: Plan): boolean => {
    const known = before.get(client.id) ?? new Map<string, readonly string[]>()
    return (
      bytes === undefined &&
      known.size === edited.ours.size &&
      [...edited.ours].every(([name, address]) => isDeepStrictEqual(known.get(name), [address]))
    )
  }

const programsIn = (written: ReadonlyMap<string, readonly string[]>): Program[] =>
  [...written.values()].flat().flatMap(address => {
    const program = programIn(address)
    return program ? [program] : []
  })

const foreignIn = ({ client, path, edited }: Plan): Error[] =>
  edited.foreign.map(server => failures.client_entry_foreign({ client: client.id, path, server }))

/** A failure about the client's file. */
export function explain({ client, path }: Pick<Work, 'client' | 'path'>, error: unknown): Error {
  if (isFailure(error)) return error
  if (error instanceof FormatProblem) {
    return failures.client_file_invalid(
      { client: client.id, path, line: error.line, problem: error.message.replace(/\.$/, '') },
      { cause: error },
    )
  }
  if (error instanceof Error && 'code' in error) {
    return failures.client_file_failed(
      { client: client.id, path, problem: messageOf(error) },
      { cause: error },
    )
  }
  throw error
}
