import { readdir, readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ApiServer, type Described, startApi } from '../../support/api-server.ts'
import { series } from '../../support/series.ts'

const REQUESTS = series({ usual: 1600, long: 20_000 })
const AT_A_TIME = 20
/** What this many requests may add to the memory of a server that has already answered as many. */
const MOST_MB_MORE = 64

/** What belongs to the world outside: everything else is asked for. Streams have no end. */
const isLeftOut = ({ method, path, described }: { method: string; path: string; described: Described }) =>
  described.operationId === 'getOpenApi' ||
  'text/event-stream' in (described.responses['200']?.content ?? {}) ||
  (method !== 'GET' && /\/skills(\/push)?$/.test(path))

const odd = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    '.',
    '..',
    '../../etc/passwd',
    '__proto__',
    'constructor',
    'default',
    'a',
    'A b',
    '%00',
    'x'.repeat(5000),
  ),
)

const WORKLOADS = '/api/v1beta/workloads'
const GROUPS = '/api/v1beta/groups'

interface Asked {
  readonly method: string
  readonly path: string
  readonly query?: string | null | undefined
  readonly body?: unknown
}

/** Requests that make, change and remove workloads and groups, so that odd requests meet some that exist. */
const fitting: fc.Arbitrary<Asked> = fc
  .record({ name: fc.constantFrom('a', 'b', 'c'), group: fc.constantFrom('default', 'a') })
  .chain(({ name, group }) => {
    const body = { name, url: 'http://127.0.0.1:9/mcp', group }
    return fc.constantFrom<Asked[]>(
      { method: 'POST', path: WORKLOADS, body },
      { method: 'POST', path: `${WORKLOADS}/${name}/edit`, body: { url: 'http://127.0.0.1:9/sse' } },
      { method: 'POST', path: `${WORKLOADS}/${name}/stop` },
      { method: 'POST', path: `${WORKLOADS}/${name}/restart` },
      { method: 'DELETE', path: `${WORKLOADS}/${name}` },
      { method: 'POST', path: GROUPS, body: { name } },
      { method: 'DELETE', path: `${GROUPS}/${name}` },
    )
  })

/** Values that fit a schema now and then, and mostly almost do. */
function valueFor(schema: unknown): fc.Arbitrary<unknown> {
  const { type, properties, items, patternProperties } = (schema ?? {}) as Record<string, never>
  const wrong = fc.oneof(fc.jsonValue({ maxDepth: 3 }), odd)
  const right = (): fc.Arbitrary<unknown> => {
    if (type === 'object' && properties) {
      const members = Object.entries(properties).map(([key, member]) => [key, valueFor(member)])
      return fc.record(Object.fromEntries(members), { requiredKeys: [] })
    }
    if (type === 'object') return fc.dictionary(odd, patternProperties ? odd : wrong, { maxKeys: 3 })
    if (type === 'array') return fc.array(valueFor(items), { maxLength: 3 })
    if (type === 'integer') return fc.oneof(fc.integer(), fc.constantFrom(0, 1, 65536, -1))
    if (type === 'boolean') return fc.boolean()
    return odd
  }
  return fc.oneof({ weight: 8, arbitrary: right() }, { weight: 1, arbitrary: wrong })
}

test(`${REQUESTS} odd requests between fitting ones get documented responses other than 500, and leave no memory or files taken`, async () => {
  const api = await startApi({ args: ['--port', '0', '--rate-limit', '0'] })
  const operations = Object.entries(api.document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({
        method: method.toUpperCase(),
        path,
        described,
      })),
    )
    .filter(operation => !isLeftOut(operation))
  const odds: fc.Arbitrary<Asked> = fc.constantFrom(...operations).chain(({ method, path, described }) => {
    const schema = described.requestBody?.content['application/json'].schema
    const names = [...path.matchAll(/\{\w+\}/g)]
    return fc.record({
      method: fc.constant(method),
      path: fc
        .array(odd, { minLength: names.length, maxLength: names.length })
        .map(texts => texts.reduce((all, text) => all.replace(/\{\w+\}/, () => encode(text)), path)),
      query: fc.option(
        fc.constantFrom('all=true', 'group=a', 'q=%00', 'page=-1&limit=1e9', 'all=%zz', 'group=A'),
      ),
      body: schema ? fc.oneof({ weight: 6, arbitrary: valueFor(schema) }, odd) : fc.constant(undefined),
    })
  })
  const request = fc.oneof({ weight: 9, arbitrary: odds }, { weight: 1, arbitrary: fitting })
  const run = (count: number) =>
    fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: AT_A_TIME, maxLength: AT_A_TIME }), async requests => {
        const answers = await Promise.all(
          requests.map(({ method, path, query, body }) =>
            api.ask(method, query ? `${path}?${query}` : path, body === undefined ? undefined : remote(body)),
          ),
        )
        for (const [i, { status, text }] of answers.entries()) {
          expect(status, `${JSON.stringify(requests[i])}: ${text}\n${api.log().slice(-2000)}`).not.toBe(500)
        }
      }),
      { numRuns: Math.ceil(count / AT_A_TIME), endOnFailure: true },
    )

  await run(REQUESTS / 2)
  const before = await measure(api)
  await run(REQUESTS / 2)

  await expect.poll(async () => (await measure(api)).files).toBeLessThan(before.files + 20)
  expect((await measure(api)).mb).toBeLessThan(before.mb + MOST_MB_MORE)
  expect((await api.ask('GET', '/health')).status).toBe(204)
  expect(api.log()).not.toContain('"level":"ERROR"')
  expect([...api.succeeded]).toEqual(expect.arrayContaining(CHANGES))
  await assertUsable(api)
}, 1_800_000)

const CHANGES = [
  'createWorkload',
  'updateWorkload',
  'stopWorkload',
  'restartWorkload',
  'deleteWorkload',
  'createGroup',
  'deleteGroup',
]

/** What is made now is there, and goes again. */
async function assertUsable(api: ApiServer): Promise<void> {
  const body = { name: 'last', url: 'http://127.0.0.1:9/mcp' }
  expect((await api.ask('POST', WORKLOADS, body)).status).toBe(201)
  expect((await api.ask('GET', `${WORKLOADS}/last`)).json()).toMatchObject(body)
  expect((await api.ask('DELETE', `${WORKLOADS}/last`)).status).toBeLessThan(300)
  await expect.poll(async () => (await api.ask('GET', `${WORKLOADS}/last`)).status).toBe(404)
}

/** Memory and open files of the server: proc(5). */
async function measure({ process: { pid } }: ApiServer): Promise<{ mb: number; files: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const files = await readdir(`/proc/${pid}/fd`)
  return { mb: Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024, files: files.length }
}

/** Never an image: none is to be looked for in the world outside. */
function remote(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  const { image: _, server: __, registry: ___, api_url: ____, ...rest } = body as Record<string, unknown>
  return 'url' in rest ? { ...rest, url: 'http://127.0.0.1:9/mcp' } : rest
}

/** A path of dots alone would be resolved before it is sent, and a lone half of a character cannot be encoded. */
const encode = (text: string): string => {
  const encoded = encodeURIComponent(text.toWellFormed())
  return encoded === '' || /^\.+$/.test(encoded) ? 'x' : encoded
}
