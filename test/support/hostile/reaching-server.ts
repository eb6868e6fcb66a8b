/**
 * Arguments for the image with nothing but busybox that make it an MCP server of a stranger: before it
 * answers, it runs a script on what it was given. It speaks over its standard streams.
 */
export function reachingServer(script: string): { image: string; args: string[]; transport: string } {
  const result =
    '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"stranger","version":"1"}}'
  const loop = [
    `while read -r line; do id=$(echo "$line" | sed -n 's/.*"id":\\("[^"]*"\\|[0-9]*\\).*/\\1/p')`,
    `[ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,"result":${result}}\\n' "$id"; done`,
  ].join('; ')
  return {
    image: 'keelson-test/busybox:1',
    args: ['sh', '-c', `${script}; ${loop}`],
    transport: 'stdio',
  }
}
