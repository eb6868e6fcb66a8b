import { PatchProblem, readIndex } from './pointer.ts'
import { open, type RawNode, rawNode, setMember, toText } from './raw-tree.ts'

/** How many bytes may be looked at and moved for one patch: a patch could copy what it has copied. */
const MOST_WORK = 16 * 1024 * 1024

/** A JSON value whose parts are found and changed by their paths; values are raw text. All throw PatchProblem. */
export interface PatchedTree {
  text(): string
  textAt(path: readonly string[]): string
  add(path: readonly string[], value: string): void
  replace(path: readonly string[], value: string): void
  remove(path: readonly string[]): void
}

/** Makes the tree of a value. What is put into it is not opened, so that it is never opened deeper than paths go. */
export function createPatchedTree(text: string): PatchedTree {
  const root = rawNode(text.trim())
  let work = 0

  function spend(bytes: number): void {
    work += bytes
    if (work > MOST_WORK) throw new PatchProblem('its patch takes too much work')
  }

  function opened(node: RawNode): RawNode {
    spend(node.text?.length ?? 0)
    open(node)
    return node
  }

  function find(path: readonly string[]): RawNode {
    let node = root
    for (const part of path) {
      const { members, elements } = opened(node)
      const found = members ? members.get(part)?.node : elements?.[readIndex(part, elements.length - 1)]
      if (!found) throw absent()
      node = found
    }
    return node
  }

  /** What holds the value at a path, and the last part of the path. */
  function holderOf(path: readonly string[]) {
    const { members, elements } = opened(find(path.slice(0, -1)))
    spend(elements?.length ?? 0)
    return { members, elements, part: path.at(-1) ?? '' }
  }

  return {
    text: () => toText(root),
    textAt(path) {
      const found = toText(find(path))
      spend(found.length)
      return found
    },
    add(path, value) {
      const { members, elements, part } = holderOf(path)
      if (!members && !elements) throw absent()
      if (members) setMember(members, part, rawNode(value))
      const at = elements && (part === '-' ? elements.length : readIndex(part, elements.length))
      if (at !== undefined) elements?.splice(at, 0, rawNode(value))
    },
    replace(path, value) {
      find(path)
      const { members, elements, part } = holderOf(path)
      if (members) setMember(members, part, rawNode(value))
      if (elements) elements[readIndex(part, elements.length - 1)] = rawNode(value)
    },
    remove(path) {
      find(path)
      const { members, elements, part } = holderOf(path)
      members?.delete(part)
      elements?.splice(readIndex(part, elements.length - 1), 1)
    },
  }
}

const absent = () => new PatchProblem('its patch names a value that is not there')
