import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CLIENTS } from '../../../plugins/clients/known-clients.ts'
import { locate } from '../../../plugins/clients/locate-client.ts'
import { type Candidate, type Clients, createClients } from '../../../plugins/clients/service.ts'
import { createGroups } from '../../../plugins/groups/service.ts'
import { createLog } from '../../../src/log.ts'

/** What stands for the script of keelson. */
export const PROGRAM = fileURLToPath(import.meta.url)

/** A home folder with client applications in it, and workloads that are only said to run. */
export interface Desk {
  readonly clients: Clients
  readonly groups: ReturnType<typeof createGroups>
  /** What is said to run; change it at will. */
  readonly workloads: Candidate[]
  /** Lines logged so far. */
  readonly logged: string[]
  fileOf(client: string): string
  read(client: string): Promise<string>
  write(client: string, text: string | Buffer): Promise<void>
}

/** `running` says what runs, instead of the list that tests change; `token` what callers have to bring. */
export function deskAt(
  home: string,
  running?: () => readonly Candidate[],
  token?: () => string | undefined,
): Desk {
  const state = join(home, 'state')
  const logged: string[] = []
  const log = createLog({ write: line => logged.push(line), human: false, debug: false })
  const workloads: Candidate[] = []
  const surroundings = { home, env: {}, platform: 'linux' as const }
  const groups = createGroups({
    paths: { state },
    log,
    configs: async () => ({ list: async () => [], find: async () => undefined, save: async () => undefined }),
    removeWorkloads: async () => [],
  })
  const fileOf = (id: string) => {
    const client = CLIENTS.find(candidate => candidate.id === id)
    if (!client) throw new Error(`no client ${id}`)
    return locate(client.file, surroundings)
  }
  return {
    clients: createClients({
      state,
      surroundings,
      running: [process.execPath, PROGRAM],
      log,
      groups: async () => groups,
      token: async () => token?.(),
      workloads: async () => running?.() ?? workloads,
    }),
    groups,
    workloads,
    logged,
    fileOf,
    read: id => readFile(fileOf(id), 'utf8'),
    async write(id, text) {
      await mkdir(dirname(fileOf(id)), { recursive: true })
      await writeFile(fileOf(id), text)
    },
  }
}

/** A workload that runs. */
export const up = (name: string, more: Partial<Candidate> = {}): Candidate => ({
  name,
  url: `http://127.0.0.1:4000/${name}`,
  proxy_mode: 'streamable-http',
  presence: 'up',
  ...more,
})
