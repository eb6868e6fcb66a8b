import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { type BenchClient, connect } from './endpoint-client.ts'
import { type OwnSupervisor, startOwnSupervisor } from './own-supervisor.ts'
import type { Result } from './result.ts'
import { DOMAINS, TASKS } from './tool-mode-tools.ts'

const MODES = ['all', 'names', 'search'] as const
type Mode = (typeof MODES)[number]

/** By what a model does, the mode that it needs and the endpoint's own tools that it uses before each call. */
const WAYS: Readonly<Record<string, { mode: Mode; first: readonly string[] }>> = {
  all: { mode: 'all', first: [] },
  names: { mode: 'names', first: ['describe_tool'] },
  search: { mode: 'search', first: ['find_tools', 'describe_tool'] },
  'search, without describe_tool': { mode: 'search', first: ['find_tools'] },
}
const LENGTHS = [1, 5, 20]
const SEARCHES = 200
/** Milliseconds. */
const GOAL_P99 = 10
/** What the person says before each call, in tokens. */
const QUESTION = 40

/** 2,000 tools of 20 servers behind one endpoint of each tool mode, in a supervisor of the built program. */
export async function run(): Promise<Result> {
  const servers = spawn(process.execPath, [new URL('tool-mode-servers.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const supervisor = await startOwnSupervisor()
  try {
    const [printed] = (await once(servers.stdout, 'data')) as [Buffer]
    const clients = await connectAll(supervisor, Number(String(printed)))
    const listed = await mapModes(mode => readList(clients[mode]))
    const figures: Record<string, number> = { tools: listed.all.count }
    for (const mode of MODES) figures[`tokens of the list of tools: ${mode}`] = listed[mode].tokens
    for (const calls of LENGTHS) {
      for (const [way, { mode, first }] of Object.entries(WAYS))
        figures[`tokens read in a conversation of ${calls} calls: ${way}`] = await readTokens(clients[mode], {
          ...{ calls, first, mode },
          listTokens: listed[mode].tokens,
        })
    }
    const { times, found } = await measureSearches(clients.search)
    return {
      name: 'tool-modes',
      conditions: 'the built program; tokens of o200k_base, without caches of prompts; no core pinned',
      measured: times.length,
      figures: {
        ...figures,
        '% of tasks whose tool is among the 8 that are found': (100 * found) / SEARCHES,
        'ms p50 of find_tools': quantile(times, 0.5),
        [`ms p99 of find_tools (at most ${GOAL_P99})`]: quantile(times, 0.99),
      },
      ok: listed.all.count === 2000 && found > 0.95 * SEARCHES && quantile(times, 0.99) <= GOAL_P99,
    }
  } finally {
    servers.kill()
    await supervisor.close()
  }
}

async function mapModes<T>(of: (mode: Mode) => Promise<T>): Promise<Record<Mode, T>> {
  const entries = await Promise.all(MODES.map(async mode => [mode, await of(mode)] as const))
  return Object.fromEntries(entries) as Record<Mode, T>
}

async function connectAll(supervisor: OwnSupervisor, port: number): Promise<Record<Mode, BenchClient>> {
  const group = 'tool-modes'
  for (const domain of Object.keys(DOMAINS))
    await supervisor.add(
      { remote_url: `http://127.0.0.1:${port}/${domain}/mcp`, transport: 'streamable-http', group },
      domain,
    )
  return mapModes(async tool_mode => {
    const { port } = await supervisor.add(
      {
        ...{ runtime: 'endpoint', image: 'endpoint', transport: 'stdio', proxy_mode: 'streamable-http' },
        ...{ isolate_network: false, sessions: 'per-client' },
        endpoint: { group, naming: 'plain', tool_mode },
      },
      tool_mode,
    )
    return connect(port)
  })
}

/** What a model reads of the tools: name, description and input schema of each. */
async function readList(client: BenchClient): Promise<{ count: number; tokens: number }> {
  const { tools } = resultOf((await client.ask('tools/list')).text)
  const shown = tools.map(({ name, description, inputSchema }: Record<string, unknown>) => ({
    ...{ name, description, parameters: inputSchema },
  }))
  return { count: tools.length, tokens: tokensOf(shown) }
}

/** The tokens that a model reads in all requests of a conversation: each one holds the list and all that came before. */
async function readTokens(
  client: BenchClient,
  options: { calls: number; mode: Mode; first: readonly string[]; listTokens: number },
): Promise<number> {
  let [context, sum] = [options.listTokens, 0]
  async function step(name: string, args: object): Promise<void> {
    sum += context
    const { text } = await client.ask('tools/call', { name, arguments: args })
    const { content } = resultOf(text)
    context += tokensOf({ name, arguments: args }) + tokensOf(content[0].text)
  }
  for (let call = 0; call < options.calls; call += 1) {
    const { query, tool, args } = taskOf(call)
    context += QUESTION
    for (const name of options.first) await step(name, name === 'find_tools' ? { query } : { name: tool })
    if (options.mode === 'search') await step('call_tool', { name: tool, arguments: args })
    else await step(tool, args)
  }
  return sum + context
}

async function measureSearches(client: BenchClient): Promise<{ times: number[]; found: number }> {
  const times: number[] = []
  let found = 0
  for (let search = 0; search < SEARCHES; search += 1) {
    const { query, tool } = taskOf(search)
    const { text, ms } = await client.ask('tools/call', { name: 'find_tools', arguments: { query } })
    times.push(ms)
    if (text.includes(`\\n${tool}(`)) found += 1
  }
  return { times, found }
}

/** The result of a response, which is JSON or the last event of a stream. */
const resultOf = (text: string) => JSON.parse(/^data: (\{.*"result":.*)$/m.exec(text)?.[1] ?? text).result

/** Tasks of all servers by turns. */
const taskOf = (index: number) => TASKS[(index * 37) % TASKS.length] as (typeof TASKS)[number]

const tokensOf = (value: unknown): number =>
  encode(typeof value === 'string' ? value : JSON.stringify(value)).length

const quantile = (values: readonly number[], part: number): number =>
  Number((values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN).toFixed(2))
