import { createEventRewriter } from '../plugins/proxy/rewrite/event-rewriter.ts'
import { createRewriting, type Rewriting } from '../plugins/proxy/rewrite/rewriting.ts'
import { toolsMiddleware } from '../plugins/tools/middleware.ts'
import type { Exchange } from '../src/contracts/pipeline.ts'
import type { RunConfig } from '../src/contracts/run-config.ts'
import { createLog } from '../src/log.ts'
import type { Result } from './result.ts'

const TOOLS = 1000
const [RUNS, WARM_UP] = [300, 100]
/** For a list in JSON that is filtered by name, in milliseconds. */
const MOST_MS = 5

const log = createLog({ write: () => {}, human: false, debug: false })

/** What the proxy needs to filter a list of 1,000 tools, from the bytes of the server to the bytes for the client. */
export async function run(): Promise<Result> {
  const body = Buffer.from(listOf(TOOLS))
  const event = Buffer.concat([Buffer.from('event: message\ndata: '), body, Buffer.from('\n\n')])
  const byName = await rewritingOf({ tools_filter: ['get_*'], tools_deny: ['get_secret_*'] })
  const readOnly = await rewritingOf({ tools_read_only: true })
  const renamed = await rewritingOf({ tools_override: { get_1: { name: 'one', description: 'One.' } } })
  const asBody = (rewriting: Rewriting) => async () =>
    Buffer.from(await rewriting.text(body.toString('latin1')), 'latin1')
  const asEvent = async () =>
    Buffer.from(await createEventRewriter(byName).push(event.toString('latin1')), 'latin1')

  const filtered = await measure(asBody(byName))
  const kept = JSON.parse((await asBody(byName)()).toString()).result.tools.length
  return {
    name: 'tools',
    conditions: `${TOOLS} tools, ${Math.round(body.length / 1024)} KB; in this process; median and 99th percentile of ${RUNS} lists`,
    measured: kept > 0 && kept < TOOLS ? RUNS : 0,
    figures: {
      [`ms p50 of a list in JSON, filtered by name (at most ${MOST_MS})`]: filtered.p50,
      'ms p99 of it': filtered.p99,
      'ms p50 of the same list as an event': (await measure(asEvent)).p50,
      'ms p50 of a list filtered by annotations': (await measure(asBody(readOnly))).p50,
      'ms p50 of a list with one tool renamed': (await measure(asBody(renamed))).p50,
    },
    ok: filtered.p50 <= MOST_MS,
  }
}

async function measure(work: () => Promise<unknown>): Promise<{ p50: number; p99: number }> {
  const times: number[] = []
  for (let run = 0; run < RUNS + WARM_UP; run += 1) {
    const before = performance.now()
    await work()
    if (run >= WARM_UP) times.push(performance.now() - before)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

async function rewritingOf(settings: Partial<RunConfig>): Promise<Rewriting> {
  const config: RunConfig = {
    ...{ schema_version: 'v0.1.0', name: 'bench', transport: 'streamable-http', port: 0 },
    ...settings,
  }
  const context = {
    ...{ log, setAccess: () => {}, listTools: async () => undefined, resultsChanged: () => {} },
    askWithin: async () => '',
  }
  const middleware = await toolsMiddleware()(config, { host: '127.0.0.1', port: 0 }, context)
  const found = middleware?.rewrites?.get('tools/list')
  return createRewriting({
    exchange: {} as Exchange,
    awaited: { method: 'tools/list', idText: '1', idKey: 'n1' },
    find: () => (found ? [found] : []),
    isNeeded: () => true,
    log,
  })
}

/** A list as servers send it: compact, with descriptions and schemas; some text has escapes, some is not ASCII. */
function listOf(count: number): string {
  const verbs = ['get', 'get_secret', 'set', 'delete']
  const property = (name: string) => ({
    type: 'string',
    description: `The ${name} of the note, as "text" in UTF-8, e.g. größer.`,
  })
  const tools = Array.from({ length: count }, (_, i) => ({
    name: `${verbs[i % verbs.length]}_${i}`,
    title: `Tool ${i}`,
    description: `Reads or writes notes of folder ${i}.\nReturns a list of notes, or one note with all of its text.`,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(['id', 'folder', 'text'].map(name => [name, property(name)])),
      required: ['id'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: i % 4 < 2, destructiveHint: false, openWorldHint: false },
  }))
  return JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools, nextCursor: 'more' } })
}
