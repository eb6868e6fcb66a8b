export interface RedisAddress {
  readonly host: string
  readonly port: number
}

/** Reads `HOST:PORT`, with a host in brackets where it is an IPv6 address; undefined where the text is something else. */
export function parseRedisAddress(text: string, usualPort = 6379): RedisAddress | undefined {
  const [, host = '', port = usualPort] = /^(\[[0-9a-f:.]+\]|[^:/@\s[\]]+)(?::(\d{1,5}))?$/i.exec(text) ?? []
  if (!host || Number(port) < 1 || Number(port) > 65_535) return undefined
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}
