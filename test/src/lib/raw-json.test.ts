import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { listsOf, type NamedList, noteLists } from '../../../src/lib/named-lists.ts'
import { TooManyNames } from '../../../src/lib/parse-json.ts'
import {
  arrayElements,
  checkJson,
  findSpan,
  mergeRaw,
  omitRaw,
  parseRaw,
  repeatedMember,
  type Span,
  splice,
  topLevelMembers,
  toRaw,
} from '../../../src/lib/raw-json.ts'
import {
  idKey,
  paramText,
  type Request,
  readMessage,
  withId,
  withParams,
} from '../../../src/net/rpc-message.ts'

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)
const whitespace = fc.constantFrom('', ' ', '\n', '\t', '\r\n', '  ')

/** JSON as somebody else would write it: odd white space. */
const written = fc
  .tuple(fc.jsonValue({ maxDepth: 5 }), whitespace, fc.integer({ min: 0, max: 4 }))
  .map(([value, space, indent]) => `${space}${JSON.stringify(value, null, indent)}${space}`)

/** Text that is almost JSON. */
const damaged = fc
  .tuple(
    written,
    fc.nat(),
    fc.constantFrom('', '"', '{', '}', ',', ':', '\\', '0', '\u0001', 'e', '-', '.', '[', ']', 't'),
  )
  .map(([text, at, by]) => {
    const position = at % (text.length + 1)
    return text.slice(0, position) + by + text.slice(position + 1)
  })

const parse = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

describe('members of an object', () => {
  test('exactly the texts that JSON.parse takes as an object are taken', () => {
    fc.assert(
      fc.property(fc.oneof(written, damaged, fc.string()), text => {
        const parsed = parse(text)
        const members = topLevelMembers(toRaw(text))
        expect(members !== undefined).toBe(parsed !== undefined && isObject(parsed.value))
      }),
      { numRuns: 5000 },
    )
  })

  test('each value is where JSON.parse finds it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), whitespace, (object, space) => {
        const raw = toRaw(`${space}${JSON.stringify(object, null, 1)}${space}`)
        const members = topLevelMembers(raw)
        const found = [...(members?.at ?? [])].map(([name, { start, end }]) => [
          parseRaw(JSON.stringify(name)),
          parseRaw(raw.slice(start, end)),
        ])
        expect(Object.fromEntries(found)).toEqual(JSON.parse(JSON.stringify(object)))
      }),
      { numRuns: 1000 },
    )
  })

  test('of a repeated name the last counts, and the name is returned', () => {
    const text = '{"a":1,"\\u0061":2}'
    const members = topLevelMembers(text)
    expect(members?.at.get('a')).toEqual({ key: '"\\u0061"', start: 16, end: 17 })
    expect([...(members?.repeated ?? [])]).toEqual(['a'])
  })

  test('depth costs no stack', () => {
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    expect(topLevelMembers(deep)).toBeDefined()
    expect(topLevelMembers(`{"a":${'['.repeat(1_000_000)}`)).toBeUndefined()
  })
})

test('elements of an array are found as JSON.parse finds them', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(fc.jsonValue()).map(value => JSON.stringify(value, null, 1)),
        damaged,
      ),
      text => {
        const parsed = parse(text)?.value
        const elements = arrayElements(toRaw(text))
        expect(elements?.map(parseRaw)).toEqual(Array.isArray(parsed) ? parsed : undefined)
      },
    ),
    { numRuns: 2000 },
  )
})

test('splicing one nested value changes that value only', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.jsonValue(),
      fc.jsonValue(),
      (around, old, next) => {
        const make = (token: unknown) => ({ ...around, params: { ...around, _meta: { a: 1, token } } })
        const raw = toRaw(JSON.stringify(make(old)))
        const params = topLevelMembers(raw)?.at.get('params')
        const edited = splice(raw, [
          { span: findSpan(raw, params, ['_meta', 'token']), text: toRaw(JSON.stringify(next)) },
        ])
        expect(edited).toBe(toRaw(JSON.stringify(make(next))))
      },
    ),
  )
})

test('merging keeps what only one side has', () => {
  expect(mergeRaw('{"a":1.0,"b":{"c":1}}', '{"b":2e0}')).toBe('{"a":1.0,"b":2e0}')
  expect(mergeRaw('{"\\u20ac":1}', toRaw('{"é":2}'))).toBe(toRaw('{"\\u20ac":1,"é":2}'))
})

describe('messages', () => {
  test.each([
    ['{"jsonrpc":"2.0","id":1,"method":"a"}', 'request'],
    ['{"jsonrpc":"2.0","method":"a","params":{}}', 'notification'],
    ['{"jsonrpc":"2.0","id":"x","result":null}', 'response'],
    ['{"jsonrpc":"2.0","id":null,"error":{}}', 'response'],
    ['{"jsonrpc":"2.0","id":1}', undefined],
    ['{"jsonrpc":"2.0","id":1,"result":1,"error":{}}', undefined],
    ['{"jsonrpc":"2.0","id":{},"method":"a"}', undefined],
    ['{"jsonrpc":"2.0","id":true,"method":"a"}', undefined],
    ['{"jsonrpc":"2.0","method":5}', undefined],
    ['{"jsonrpc":"1.0","id":1,"method":"a"}', undefined],
    ['{"id":1,"method":"a"}', undefined],
    ['{"jsonrpc":"2.0","method":"a"} x', undefined],
    ['{"jsonrpc":"2.0","method":"a","method":"b"}', undefined],
  ])('%s', (text, kind) => {
    expect(readMessage(text)?.kind).toBe(kind)
  })

  test('an id is put back as it was written', () => {
    for (const id of ['12345678901234567890', '1.0', '"é"', '"\\u0031"', '-1e5']) {
      const message = readMessage(toRaw(`{"jsonrpc":"2.0", "id": ${id},"method":"m"}`))
      if (message?.kind !== 'request') throw new Error('no request')
      const answer = readMessage(withId(message, '7'))
      if (answer?.kind !== 'request') throw new Error('no request')
      expect(withId(answer, message.idText)).toBe(message.text)
    }
  })

  test('the same id written in two ways has one key; a string and a number have two', () => {
    expect(idKey('"a"')).toBe(idKey('"\\u0061"'))
    expect(idKey('1')).not.toBe(idKey('"1"'))
  })
})

describe('texts that are known to be valid', () => {
  const names = fc.constantFrom('name', 'annotations', 'a', 'tools', '"', 'ü', '{', '}:', 'b"', '\\', 'a\\"')
  const texts = fc.constantFrom('\\', '\\"', 'a\\\\', '"name":"x"', '\\u0061')
  const value = fc.oneof(names, texts, fc.constantFrom(1, null, true), fc.jsonValue({ maxDepth: 3 }))
  const item = fc.array(fc.tuple(names, value), { maxLength: 20 }).map(pairs => Object.fromEntries(pairs))
  const lists = fc.tuple(fc.array(item, { maxLength: 5 }), item, fc.nat(3))

  test('elements of a list and their members are where JSON.parse finds them', () => {
    fc.assert(
      fc.property(lists, ([tools, others, indent]) => {
        const text = toRaw(JSON.stringify({ ...others, tools }, null, indent))
        const list = listsOf(text, new Set(['tools', 'prompts'])).get('tools')
        const valueAt = (span?: Span) => span && parseRaw(text.slice(span.start, span.end))
        expect(JSON.stringify(list?.elements?.map(valueAt))).toBe(JSON.stringify(tools))
        expect(JSON.stringify(valueAt(list))).toBe(JSON.stringify(tools))
        const given = tools.map(({ name, annotations }) => ({ name, annotations }))
        const found = list?.elements?.map(({ name, annotations }) => ({
          name: valueAt(name),
          annotations: valueAt(annotations),
        }))
        expect(JSON.stringify(found)).toBe(JSON.stringify(given))
      }),
    )
  })

  test('the lists of a member are those of its own text, and of what is no list nothing is said', () => {
    const result =
      '{"a":{"tools":[{}]},"to\\u006fls" : [ {"name":"\\u0061"} ], "prompts":[{},1],"resources":{}}'
    const text = `{ "result": ${result} }`
    const found = new Map<string, NamedList>()
    const names = new Set(['tools', 'prompts', 'resources', 'resourceTemplates'])
    const { start = 0, end = 0 } =
      topLevelMembers(text, new Map([['result', noteLists(names, found)]]))?.at.get('result') ?? {}
    expect(text.slice(start, end)).toBe(result)
    expect(found).toEqual(listsOf(result, names))
    const [tool] = found.get('tools')?.elements ?? []
    expect(result.slice(tool?.name?.start, tool?.name?.end)).toBe('"\\u0061"')
    expect([...found].map(([name, { elements }]) => [name, elements?.length])).toEqual([
      ['tools', 1],
      ['prompts', undefined],
      ['resources', undefined],
    ])
    expect(listsOf('[]', names).size).toBe(0)
  })

  test('text that is not JSON is refused also where its lists are noted', () => {
    fc.assert(
      fc.property(
        lists,
        fc.nat(),
        fc.constantFrom('', '"', '{', '}', ',', ':', ']', '1'),
        (given, at, by) => {
          const [tools, others, indent] = given
          const text = toRaw(JSON.stringify({ ...others, result: { ...others, tools } }, null, indent))
          const position = at % (text.length + 1)
          const damaged = text.slice(0, position) + by + text.slice(position + 1)
          const noted = topLevelMembers(
            damaged,
            new Map([['result', noteLists(new Set(['tools']), new Map())]]),
          )
          expect(noted).toEqual(topLevelMembers(damaged))
          expect(noted !== undefined).toBe(isObject(parse(damaged)?.value))
        },
      ),
      { numRuns: 3000 },
    )
  })

  test('a member stands twice where another one is written into an object, and only there', () => {
    fc.assert(
      fc.property(item, fc.nat(), fc.nat(3), (object, at, indent) => {
        const text = toRaw(JSON.stringify([[object], object], null, indent))
        expect(repeatedMember(text)).toBeUndefined()
        const keys = Object.keys(object)
        const name = keys[at % Math.max(1, keys.length)]
        if (name === undefined) return
        const brace = text.indexOf('{')
        const more = toRaw(`${JSON.stringify(name)} : 1,`)
        expect(repeatedMember(text.slice(0, brace + 1) + more + text.slice(brace + 1))).toBe(name)
      }),
    )
  })

  test('a member that stands twice is found among many, and in objects between them', () => {
    const names = Array.from({ length: 40 }, (_, i) => `"n${i}"`)
    const object = (...twice: string[]) =>
      `{${[...names, ...twice].map(name => `${name}:{"n0":[{"n1":1}]}`)}}`
    expect(checkJson(`[${object()},${object()}]`)).toMatchObject({ isJson: true, repeated: undefined })
    for (const at of [0, 15, 16, 17, 39]) {
      expect(repeatedMember(`[${object()},${object(names[at] as string)}]`)).toBe(`n${at}`)
      expect(repeatedMember(`[${object(`"\\u006e${at}"`)}]`)).toBe(`n${at}`)
    }
    expect(repeatedMember(`{${names.map(name => `${name}:{"a":1,"b":2,"a":3}`)}}`)).toBe('a')
  })

  test('what is nested too deeply is no JSON', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(checkJson(nested(10_000)).isJson).toBe(true)
    expect(checkJson(nested(200_000)).isJson).toBe(false)
  })
})

test('a text with more escaped names than are read is taken for nothing', () => {
  const object = (count: number, more = '') =>
    `{${Array.from({ length: count }, (_, n) => `"\\u0061${n}":1`).join(',')}${more}}`
  expect(topLevelMembers(object(10_000))?.at.size).toBe(10_000)
  expect(topLevelMembers(object(10_001))).toBeUndefined()
  expect(checkJson(`[${object(10_000)},${object(10_000)}]`)).toMatchObject({
    isJson: true,
    hasTooManyNames: false,
  })
  expect(checkJson(object(10_001))).toMatchObject({ isJson: false, hasTooManyNames: true })
  expect(repeatedMember(object(10_001, ',"b":1,"b":2'))).toBe('')
})

test('the members of such a text are never left out', () => {
  const object = (count: number, prefix: string) =>
    `{${Array.from({ length: count }, (_, n) => `"\\u0061${prefix}${n}":1`).join(',')}}`
  const merged = mergeRaw(object(6_000, 'a'), object(4_000, 'b'))
  expect(topLevelMembers(merged)?.at.size).toBe(10_000)
  expect(() => mergeRaw(mergeRaw(merged, object(1, 'c')), '{}')).toThrow(TooManyNames)
  expect(() => omitRaw(object(10_001, 'a'), () => false)).toThrow(TooManyNames)
  expect(mergeRaw('5', '{"a":1}')).toBe('{"a":1}')
})

describe('withParams', () => {
  test.each([
    ['{"jsonrpc":"2.0","id":12345678901234567890,"method":"m","params":{"a":1}}'],
    ['{"jsonrpc":"2.0","method":"m","params":{"a":1},"id":12345678901234567890, "other": [1.0]}'],
    ['{"jsonrpc":"2.0","id":12345678901234567890,"method":"m"} '],
  ])('keeps the positions of %s', text => {
    const request = withParams(readMessage(text) as Request, '{"b":1.0,"_meta":{"c":"longer than before"}}')
    expect(readMessage(request.text)).toMatchObject({ id: request.id, params: request.params })
    expect(request.text.slice(request.id.start, request.id.end)).toBe('12345678901234567890')
    expect(paramText(request, '_meta', 'c')).toBe('"longer than before"')
    expect(paramText(request, 'a')).toBeUndefined()
    expect(request.text.includes('"other": [1.0]')).toBe(text.includes('other'))
  })
})

test('an object with very many members is found in all the same', () => {
  const many = Array.from({ length: 5000 }, (_, n) => `"n${n}":${n}`)
  const message = readMessage(`{"jsonrpc":"2.0","method":"m","params":{${many},"n1":{"x":"y"}}}`)
  expect(message && [paramText(message, 'n4999'), paramText(message, 'n1', 'x')]).toEqual(['4999', '"y"'])
})
