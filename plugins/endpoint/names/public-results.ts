import { memberText } from '../../../src/lib/raw-json.ts'
import { type Edit, editElements, editMember, editString } from './edit-raw.ts'
import { toPublicUri } from './resource-uri.ts'

/** By method: what turns the result of one server (raw text) into that of the endpoint. */
export const PUBLIC_RESULTS: Readonly<Record<string, (result: string, server: string) => string>> = {
  'tools/call': (result, server) => editMember(result, ['content'], blocks(server)),
  'prompts/get': (result, server) =>
    editMember(result, ['messages'], text =>
      editElements(text, message => editMember(message, ['content'], blocks(server))),
    ),
  'resources/read': (result, server) =>
    editMember(result, ['contents'], text =>
      editElements(text, contents => editMember(contents, ['uri'], uri(server))),
    ),
}

/** Turns the URI that a member holds into that of the endpoint. */
export const uri =
  (server: string): Edit =>
  text =>
    editString(text, value => toPublicUri({ server, uri: value }))

/** One content block or a list of them (MCP 2025-11-25, tools, section "Tool Result"). */
const blocks =
  (server: string): Edit =>
  text =>
    text.startsWith('[') ? editElements(text, block(server)) : block(server)(text)

const block =
  (server: string): Edit =>
  text => {
    if (!text.startsWith('{')) return text
    const type = memberText(text, 'type')
    if (type === '"resource_link"') return editMember(text, ['uri'], uri(server))
    return type === '"resource"' ? editMember(text, ['resource', 'uri'], uri(server)) : text
  }
