import { failures } from './failures.ts'
import type { ServerJson } from './formats/server-json.ts'

/** Fills `{name}` in a remote server's URL: what the user gave with -e first, then what the entry says. */
export function fillUrl(server: ServerJson, url: string, given: Readonly<Record<string, string>>): string {
  const variables = server.remotes?.[0]?.variables ?? {}
  const missing: string[] = []
  const filled = url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = given[name] ?? variables[name]?.value ?? variables[name]?.default
    if (value === undefined) missing.push(name)
    return value === undefined ? whole : encodeURIComponent(value)
  })
  if (missing.length) throw failures.variables_missing({ server: server.name, plain: missing, secret: [] })
  return filled
}
