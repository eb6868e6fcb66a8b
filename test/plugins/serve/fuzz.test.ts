import fc from 'fast-check'
import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'

/** What belongs to this machine or the world outside, or takes long: everything else is asked for. */
const LEFT_OUT = new Set(['streamEvents', 'getOpenApi'])

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

test('two thousand odd requests get no 500, none that is not documented, and the server goes on', async () => {
  const api = await startApi()
  const operations = Object.entries(api.document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, described]) => !LEFT_OUT.has(described.operationId))
      .map(([method, described]) => ({ method: method.toUpperCase(), path, described })),
  )
  const request = fc.constantFrom(...operations).chain(({ method, path, described }) => {
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

  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 10, maxLength: 10 }), async requests => {
      const answers = await Promise.all(
        requests.map(({ method, path, query, body }) =>
          api.ask(method, query ? `${path}?${query}` : path, body === undefined ? undefined : remote(body)),
        ),
      )
      for (const [i, answer] of answers.entries()) {
        expect(
          answer.status,
          `${JSON.stringify(requests[i])}: ${answer.text}\n${api.log().slice(-2000)}`,
        ).not.toBe(500)
      }
    }),
    { numRuns: 200, endOnFailure: true },
  )

  expect((await api.ask('GET', '/health')).status).toBe(204)
}, 240_000)

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
