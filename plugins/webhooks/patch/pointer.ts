/** A patch that cannot be applied; the text says why. */
export class PatchProblem extends Error {
  override readonly name = 'PatchProblem'
}

const ROOT = '/mcp_request/'
/** Values are opened as deep as pointers go. */
const MOST_PARTS = 100

/** Reads a JSON Pointer (RFC 6901) into the message that was sent. Throws PatchProblem. */
export function readPointer(pointer: unknown): readonly string[] {
  if (typeof pointer !== 'string' || !pointer.startsWith(ROOT)) {
    throw new PatchProblem(`its patch names something other than ${ROOT}…`)
  }
  const parts = pointer.slice(ROOT.length).split('/')
  if (parts.length > MOST_PARTS || /~(?![01])/.test(pointer)) {
    throw new PatchProblem('its patch has a path that cannot be read')
  }
  return parts.map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Reads the part of a pointer that names an element of an array (RFC 6901, section 4). Throws PatchProblem. */
export function readIndex(part: string, most: number): number {
  const index = /^(?:0|[1-9]\d{0,8})$/.test(part) ? Number(part) : Number.NaN
  if (index <= most) return index
  throw new PatchProblem('its patch names an element that is not there')
}
