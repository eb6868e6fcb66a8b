import { type ParseError, parse } from 'jsonc-parser'
import { isObject } from '../../../src/lib/is-object.ts'
import { readUserFile } from '../../../src/user-file.ts'
import { failures } from '../failures.ts'
import { type Found, toWorkloadName } from '../found.ts'
import { fromCommand } from './from-command.ts'
import { isCredential, isPlaceholder, toVariables } from './variables.ts'

/**
 * The servers in the `mcpServers` or `servers` of a client's file. Comments and trailing commas are fine, as they are for
 * the clients.
 */
export async function readClientFile(path: string): Promise<Found[]> {
  const text = await readUserFile(path, 'The file to import')
  const errors: ParseError[] = []
  const file: unknown = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const wrong = (problem: string) => failures.import_unreadable({ path, problem })
  if (errors.length || !isObject(file)) throw wrong('it is not a JSON object.')
  const servers = file.mcpServers ?? file.servers
  if (!isObject(servers)) throw wrong('it has neither "mcpServers" nor "servers".')
  if (Object.keys(servers).length === 0) throw failures.import_nothing({ what: 'a client', place: path })
  return Object.entries(servers).map(([name, entry]) => toFound(name, entry))
}

function toFound(name: string, entry: unknown): Found {
  if (!isObject(entry)) return { name, problem: 'its entry is not an object.', left: [] }
  const url = entry.url ?? entry.serverUrl ?? entry.httpUrl
  if (typeof url === 'string') return fromUrl(name, url, entry)
  const { command, args = [] } = entry
  if (typeof command !== 'string') return { name, problem: 'it has neither a command nor a URL.', left: [] }
  if (!Array.isArray(args) || !args.every(arg => typeof arg === 'string')) {
    return { name, problem: 'its args are not a list of texts.', left: [] }
  }
  const unknown = [command, ...args].find(isPlaceholder)
  if (unknown) return { name, problem: `only the client knows what ${unknown} stands for.`, left: [] }
  const made = fromCommand(command, args)
  if ('problem' in made) return { name, problem: made.problem, left: [] }
  const { env_vars, secrets, left } = toVariables({
    ...made.variables,
    ...(isObject(entry.env) ? entry.env : {}),
  })
  const draft = { name: toWorkloadName(name), transport: 'stdio', ...made.draft, env_vars, secrets } as const
  return { name, draft, left: [...made.left, ...left] }
}

function fromUrl(name: string, url: string, entry: Record<string, unknown>): Found {
  if (isPlaceholder(url)) return { name, problem: `only the client knows what ${url} stands for.`, left: [] }
  const left: string[] = []
  const plain: Record<string, string> = {}
  for (const [header, value] of Object.entries(isObject(entry.headers) ? entry.headers : {})) {
    if (typeof value === 'string' && !isPlaceholder(value) && !isCredential(header)) plain[header] = value
    else
      left.push(
        `header ${header}: it may hold a token; keelson edit NAME --remote-forward-headers-secret adds it`,
      )
  }
  const draft = {
    name: toWorkloadName(name),
    remote_url: url,
    transport: entry.type === 'sse' ? 'sse' : 'streamable-http',
    ...(Object.keys(plain).length ? { header_forward: { add_plaintext_headers: plain } } : {}),
  } as const
  return { name, draft, left }
}
