import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Document, isMap, isSeq, LineCounter, parseDocument, YAMLMap, YAMLSeq } from 'yaml'
import { failures as core } from '../../../src/errors.ts'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { failures } from '../failures.ts'
import { ENTRY_FIELDS, entryProblem, graphProblem, type LockEntry } from './lock-entry.ts'

const NAME = 'keelson.lock.yaml'
/** The name of ToolHive's lock file, which is read when ours does not exist. */
const FOREIGN_NAME = 'toolhive.lock.yaml'
const LARGEST = 4 * 1024 * 1024

/** A project's lock file, read and checked. */
export interface LockFile {
  /** The path to write. */
  readonly path: string
  /** The path that was read; undefined when there is none. */
  readonly readFrom: string | undefined
  /** The text of the file at `path`; undefined when it does not exist. */
  readonly text: string | undefined
  readonly entries: ReadonlyMap<string, LockEntry>
  /** Returns the text with these entries instead, sorted. Unknown members and comments are kept. */
  withEntries(entries: ReadonlyMap<string, LockEntry>): string
}

/** Fails with `skill_lock_invalid` or `skill_lock_version`, with the line where it is known. */
export async function readLockFile(root: string): Promise<LockFile> {
  const path = join(root, NAME)
  const own = await readIfThere(path)
  const foreign = own === undefined ? await readIfThere(join(root, FOREIGN_NAME)) : undefined
  const readFrom = own !== undefined ? path : foreign !== undefined ? join(root, FOREIGN_NAME) : undefined
  const text = own ?? foreign ?? ''
  const entries = parse(text, readFrom ?? path).entries
  return {
    path,
    readFrom,
    text: own,
    entries,
    withEntries: wanted => write(parse(text, readFrom ?? path).document, entries, wanted),
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    const facts = await lstat(path)
    if (!facts.isFile()) throw failures.skill_lock_invalid({ path, problem: 'it is not an ordinary file' })
    if (facts.size > LARGEST)
      throw failures.skill_lock_invalid({ path, problem: `it is longer than ${LARGEST} bytes` })
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    if (!(error instanceof Error && 'syscall' in error)) throw error
    const problem = 'code' in error ? String(error.code) : error.message
    throw core.file_unreadable({ what: 'The lock file', path, problem }, { cause: error })
  }
}

function parse(text: string, path: string): { document: Document; entries: Map<string, LockEntry> } {
  const refuse = (problem: string, line?: number) => failures.skill_lock_invalid({ path, problem, line })
  if (/^(<{7}|={7}|>{7})( |$)/m.test(text)) throw refuse('it has marks of a merge that is not finished')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [error] = document.errors
  if (error) throw refuse(error.message.replace(/\.$/, ''), lines.linePos(error.pos[0]).line)
  if (document.contents === null) document.contents = new YAMLMap() as never
  if (!isMap(document.contents)) throw refuse('it is not a mapping')
  const version: unknown = document.get('version') ?? 0
  if (version !== 0 && version !== 1)
    throw failures.skill_lock_version({ path, version: JSON.stringify(version) })
  const list: unknown = document.get('skills') ?? undefined
  if (list === undefined) return { document, entries: new Map() }
  if (!isSeq(list)) throw refuse('its skills are not a list')
  const found = list.items.map(item => {
    const value: unknown = isMap(item) ? item.toJS(document, { maxAliasCount: 20 }) : item
    const line = isMap(item) && item.range ? lines.linePos(item.range[0]).line : undefined
    const problem = isMap(item) ? entryProblem(value) : 'one of its skills is not a mapping'
    if (problem) throw refuse(problem, line)
    return value as LockEntry
  })
  const problem = graphProblem(found)
  if (problem) throw refuse(problem)
  return { document, entries: new Map(found.map(entry => [entry.name, entry])) }
}

function write(
  document: Document,
  before: ReadonlyMap<string, LockEntry>,
  wanted: ReadonlyMap<string, LockEntry>,
): string {
  document.set('version', 1)
  const old: unknown = document.get('skills')
  const list = isSeq(old) ? old : new YAMLSeq()
  const nodes = new Map(list.items.filter(isMap).map(node => [String(node.get('name')), node]))
  const items = [...wanted.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(entry => {
      const node = nodes.get(entry.name) ?? new YAMLMap()
      if (before.get(entry.name) !== entry) fill(document, node as YAMLMap, entry)
      return node
    })
  list.items = items
  if (list !== old) document.set('skills', list)
  list.flow = items.length === 0
  return document.toString({ lineWidth: 0 })
}

/** Sets the known members, and keeps unknown ones and comments. */
function fill(document: Document, node: YAMLMap, entry: LockEntry): void {
  for (const field of ENTRY_FIELDS) {
    const value = entry[field]
    const isNothing = value === undefined || value === false || (Array.isArray(value) && value.length === 0)
    if (isNothing) node.delete(field)
    else if (JSON.stringify(node.toJS(document)[field]) !== JSON.stringify(value))
      node.set(field, document.createNode(value))
  }
  const rank = (key: unknown) => (ENTRY_FIELDS as readonly string[]).indexOf(String(key)) >>> 0
  node.items.sort((a, b) => rank(a.key) - rank(b.key))
}
