import { TooManyNames } from '../../src/lib/parse-json.ts'
import { parseRaw } from '../../src/lib/raw-json.ts'
import { otherSpelling, readMessage } from '../../src/net/rpc-message.ts'
import { idTextOf, type JudgedMessage, MAX_MESSAGE_BYTES } from './judged-message.ts'
import { applyPatch } from './patch/json-patch.ts'
import { PatchProblem } from './patch/pointer.ts'

/**
 * Applies a patch (raw text) to a message. The result is one message that every reader takes for the same, of the same
 * kind, with the same id and the same method: the client waits for the result of what it asked.
 */
export function patchMessage(
  message: JudgedMessage,
  patch: string,
): { readonly message: JudgedMessage } | { readonly problem: string } {
  try {
    const text = applyPatch(message.text, patch)
    if (text.length > MAX_MESSAGE_BYTES) return { problem: 'the patched message is larger than 1 MiB' }
    const patched = readMessage(text)
    if (!patched || patched.repeated !== undefined || otherSpelling(parseRaw(text)) !== undefined) {
      return { problem: 'what it has patched is not one JSON-RPC message' }
    }
    if (
      patched.kind === 'response' ||
      patched.kind !== message.kind ||
      patched.method !== message.method ||
      idTextOf(patched) !== idTextOf(message)
    ) {
      return { problem: 'its patch changes the id or the method of the message' }
    }
    return { message: patched }
  } catch (error) {
    if (error instanceof PatchProblem || error instanceof TooManyNames) return { problem: error.message }
    throw error
  }
}
