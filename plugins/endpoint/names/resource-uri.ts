/** Resources of MCP Apps keep their scheme, by which hosts know them. */
const UI = 'ui://'
const ENCODED = /^mcp\+([a-z0-9.-]+)\+(.*)$/s
const ENCODED_UI = /^ui:\/\/([^/]+)\/(.*)$/s

/** A resource, and the server that has it. */
export interface OwnedUri {
  readonly server: string
  readonly uri: string
}

/**
 * The URI, or URI template (RFC 6570), under which clients see a resource of a server: `mcp+SERVER+URI`, and
 * `ui://SERVER/REST` for `ui://REST`. Both can be turned back.
 */
export const toPublicUri = ({ server, uri }: OwnedUri): string =>
  uri.startsWith(UI) ? `${UI}${server}/${uri.slice(UI.length)}` : `mcp+${encode(server)}+${uri}`

/** Undefined for a URI that no endpoint has made. */
export function fromPublicUri(uri: string): OwnedUri | undefined {
  const ui = ENCODED_UI.exec(uri)
  if (ui?.[1]) return { server: ui[1], uri: `${UI}${ui[2]}` }
  const other = ENCODED.exec(uri)
  return other?.[1] ? { server: decode(other[1]), uri: other[2] ?? '' } : undefined
}

/** A scheme has no capitals and no underscores (RFC 3986, section 3.1): they become a dot and two digits. */
const encode = (server: string): string =>
  server.replaceAll(/[^a-z0-9-]/g, char => `.${char.charCodeAt(0).toString(16).padStart(2, '0')}`)

const decode = (server: string): string =>
  server.replaceAll(/\.([0-9a-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
