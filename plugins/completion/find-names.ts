import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { App } from '../../src/app.ts'
import type { NameKind } from '../../src/cli/flags.ts'
import { isMissing } from '../../src/lib/atomic-file.ts'
import { withinTime } from '../../src/lib/within-time.ts'
import type { Paths } from '../../src/paths.ts'

const MOST_MS = 3000

interface Names {
  /** What a name stands for, shown beside it. */
  readonly description: string
  /** `server` is the value of a `--server` that was typed before. */
  find(app: App, server: string | undefined): Promise<readonly string[]>
}

/** How the names of each kind are found, without asking a runtime, or anybody for a password. */
const KINDS: Readonly<Record<NameKind, Names>> = {
  workloads: { description: 'workload', find: app => workloadNames(app.paths) },
  skills: { description: 'installed skill', find: app => skillNames(app.paths) },
  groups: {
    description: 'group',
    find: async app => ((await (await app.find('groups'))?.list()) ?? []).map(({ name }) => name),
  },
  clients: {
    description: 'client application',
    find: async app =>
      ((await (await app.find('clients'))?.status()) ?? []).map(({ client_type }) => client_type),
  },
  secrets: {
    description: 'secret',
    find: async app => ((await (await app.find('secrets'))?.list()) ?? []).map(({ key }) => key),
  },
  runtimes: {
    description: 'runtime',
    find: async app => ((await (await app.find('runtimes'))?.all()) ?? []).map(({ name }) => name),
  },
  servers: {
    description: 'server of the registry',
    find: async app =>
      ((await (await app.find('registry'))?.servers()) ?? []).map(
        ({ name }) => name.split('/').at(-1) ?? name,
      ),
  },
  tools: {
    description: 'tool',
    async find(app, server) {
      const tools = server === undefined ? undefined : await app.find('serverTools')
      const limits = { timeoutMs: MOST_MS, signal: AbortSignal.timeout(MOST_MS) }
      return ((await tools?.of(server ?? '', limits)) ?? []).map(({ name }) => name)
    },
  },
}

/** The names of a kind, with what they stand for. Empty if they cannot be found in time: an error would disturb the typing. */
export async function findNames(
  app: App,
  kind: NameKind,
  server?: string,
): Promise<{ value: string; description: string }[]> {
  const { description, find } = KINDS[kind]
  const late = () => new Error('it takes too long')
  const names = await withinTime(find(app, server), { ms: MOST_MS, late, signal: undefined }).catch(() => [])
  return names.map(value => ({ value, description }))
}

/** Names of all workloads, stopped ones included, without asking any runtime. */
const workloadNames = async (paths: Paths): Promise<string[]> =>
  (await jsonFiles(join(paths.state, 'runconfigs'))).map(file => file.slice(0, -'.json'.length))

/** Names of all skills, of the user and of every project. */
async function skillNames(paths: Paths): Promise<string[]> {
  const folder = join(paths.data, 'skills', 'installed')
  const names = new Set<string>()
  for (const file of await jsonFiles(folder)) {
    for (const name of skillsIn(await readFile(join(folder, file), 'utf8'))) names.add(name)
  }
  return [...names].sort()
}

/** A warning would appear in the middle of the line that the user types; the command itself prints it. */
function skillsIn(text: string): string[] {
  try {
    const { skills = {} } = JSON.parse(text) as { skills?: object }
    return Object.keys(skills)
  } catch {
    return []
  }
}

async function jsonFiles(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter(file => file.endsWith('.json'))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
