/** What the transparent proxy has to know about one revision of MCP. */
export interface Revision {
  /** As in the `MCP-Protocol-Version` header. */
  readonly version: string
  /** Whether servers of this revision keep sessions (`Mcp-Session-Id`). */
  readonly sessions: boolean
  /** The only methods its endpoint takes; undefined: any. */
  readonly methods: readonly string[] | undefined
  /** The body that asks a server whether it is there. */
  readonly probe: Buffer
}
