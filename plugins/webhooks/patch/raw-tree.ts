import { arrayElements, topLevelMembers, toRaw } from '../../../src/lib/raw-json.ts'

/**
 * A JSON value (raw text, see raw-json.ts) that can be changed in places. What is not opened stays as it was written:
 * long numbers are not rounded.
 */
export interface RawNode {
  /** Undefined where the value is opened. */
  text: string | undefined
  /** Of an opened object, by name. */
  members?: Map<string, RawMember>
  /** Of an opened array. */
  elements?: RawNode[]
}

interface RawMember {
  /** The name as it was written. */
  readonly key: string
  readonly node: RawNode
}

export const rawNode = (text: string): RawNode => ({ text })

/** Opens an object or an array; a scalar stays as it is. */
export function open(node: RawNode): void {
  const { text } = node
  if (text?.startsWith('{')) {
    const members = topLevelMembers(text)?.at ?? []
    node.members = new Map(
      [...members].map(([name, { key, start, end }]) => [
        name,
        { key, node: rawNode(text.slice(start, end)) },
      ]),
    )
    node.text = undefined
  } else if (text?.startsWith('[')) {
    node.elements = (arrayElements(text) ?? []).map(rawNode)
    node.text = undefined
  }
}

/** Sets a member of an opened object, at its place or at the end. */
export function setMember(members: Map<string, RawMember>, name: string, node: RawNode): void {
  members.set(name, { key: members.get(name)?.key ?? toRaw(JSON.stringify(name)), node })
}

/** The whole text. It goes as deep as values are opened. */
export function toText({ text, members, elements = [] }: RawNode): string {
  if (text !== undefined) return text
  if (!members) return `[${elements.map(toText).join(',')}]`
  return `{${[...members.values()].map(({ key, node }) => `${key}:${toText(node)}`).join(',')}}`
}
