import { isDeepStrictEqual } from 'node:util'
import { arrayElements, parseRaw, topLevelMembers } from '../../../src/lib/raw-json.ts'
import { createPatchedTree, type PatchedTree } from './patched-tree.ts'
import { PatchProblem, readPointer } from './pointer.ts'

const MOST_OPERATIONS = 1000

/** One operation (RFC 6902, section 4). */
interface Operation {
  readonly op: unknown
  readonly path: readonly string[]
  /** Reads `from`. */
  from(): readonly string[]
  /** Reads `value`, raw. */
  value(): string
}

/** Applies a JSON Patch (RFC 6902) to an object; both are raw text. Throws PatchProblem. */
export function applyPatch(text: string, patch: string): string {
  const operations = arrayElements(patch)
  if (!operations) throw new PatchProblem('its patch is not a list')
  if (operations.length > MOST_OPERATIONS) {
    throw new PatchProblem(`its patch has more than ${MOST_OPERATIONS} operations`)
  }
  const tree = createPatchedTree(text)
  for (const operation of operations.map(readOperation)) {
    const apply = OPERATIONS.get(operation.op)
    if (!apply) throw new PatchProblem('its patch has an unknown operation')
    apply(tree, operation)
  }
  return tree.text()
}

function readOperation(text: string): Operation {
  const members = topLevelMembers(text)
  const textOf = (name: string): string | undefined => {
    const span = members?.at.get(name)
    return span && text.slice(span.start, span.end)
  }
  const read = (name: string): unknown => {
    const found = textOf(name)
    return found === undefined ? undefined : parseRaw(found)
  }
  return {
    op: read('op'),
    path: readPointer(read('path')),
    from: () => readPointer(read('from')),
    value() {
      const value = textOf('value')
      if (value === undefined) throw new PatchProblem('its patch has an operation without a value')
      return value
    },
  }
}

type Apply = (tree: PatchedTree, operation: Operation) => void

const OPERATIONS: ReadonlyMap<unknown, Apply> = new Map<string, Apply>([
  ['add', (tree, { path, value }) => tree.add(path, value())],
  ['remove', (tree, { path }) => tree.remove(path)],
  ['replace', (tree, { path, value }) => tree.replace(path, value())],
  ['copy', (tree, { path, from }) => tree.add(path, tree.textAt(from()))],
  ['move', (tree, { path, from }) => move(tree, from(), path)],
  ['test', (tree, { path, value }) => assertSame(tree.textAt(path), value())],
])

function move(tree: PatchedTree, from: readonly string[], path: readonly string[]): void {
  if (from.length < path.length && from.every((part, at) => part === path[at])) {
    throw new PatchProblem('its patch moves a value into itself')
  }
  const text = tree.textAt(from)
  tree.remove(from)
  tree.add(path, text)
}

function assertSame(one: string, other: string): void {
  try {
    if (isDeepStrictEqual(parseRaw(one), parseRaw(other))) return
  } catch (error) {
    // It compares by recursion.
    throw new PatchProblem('a test of its patch is nested too deeply', { cause: error })
  }
  throw new PatchProblem('a test of its patch fails')
}
