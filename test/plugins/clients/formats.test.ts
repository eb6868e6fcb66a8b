import fc from 'fast-check'
import { stripComments } from 'jsonc-parser'
import { parse as parseTomlText } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { parseDocument, parse as parseYamlText } from 'yaml'
import type { Format, Step, Value } from '../../../plugins/clients/formats/format.ts'
import { json } from '../../../plugins/clients/formats/json.ts'
import { toml } from '../../../plugins/clients/formats/toml.ts'
import { yaml } from '../../../plugins/clients/formats/yaml.ts'
import { series } from '../../support/series.ts'
import { jsonText, printed, settings, tomlText, yamlText } from './documents.ts'

fc.configureGlobal({ numRuns: series({ usual: 40, long: 500 }) })

const NAMES = ['fetch', 'a.b', 'x-1_Y', '__proto__', 'true', '007', '.']
const URLS = ['http://127.0.0.1:1234/mcp', 'http://127.0.0.1:8/sse#a%20b']

interface Kind {
  readonly name: string
  readonly format: Format
  readonly key: string
  readonly shape: 'map' | 'list'
  /** Reads text with the library alone. */
  readonly read: (text: string) => unknown
  readonly texts: fc.Arbitrary<string>
}

const textsOf = (key: string, shape: 'map' | 'list', print: Parameters<typeof printed>[1]) =>
  printed(settings(key, NAMES, shape), print)

const KINDS: readonly Kind[] = [
  ...['mcpServers', 'amp.mcpServers', 'a/b~c"'].map(key => ({
    name: `JSON, ${key}`,
    format: json,
    key,
    shape: 'map' as const,
    read: (text: string) => readJson(text),
    texts: textsOf(key, 'map', jsonText),
  })),
  ...(['map', 'list'] as const).map(shape => ({
    name: `YAML, ${shape}`,
    format: yaml,
    key: 'extensions',
    shape,
    read: (text: string) => plain(parseYamlText(text, { logLevel: 'silent' })),
    texts: textsOf('extensions', shape, yamlText).filter(text => parseDocument(text).errors.length === 0),
  })),
  ...(['map', 'list'] as const).map(shape => ({
    name: `TOML, ${shape}`,
    format: toml,
    key: 'mcp_servers',
    shape,
    read: (text: string) => plain(parseTomlText(text, { integersAsBigInt: 'asNeeded' })),
    texts: textsOf('mcp_servers', shape, (value, choices) => tomlText(value, choices, 'mcp_servers')),
  })),
]

function readJson(text: string): unknown {
  const strings = /("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g
  return JSON.parse(stripComments(text).replace(strings, (_, string?: string) => string ?? ''))
}

/** Only what is written shows: no prototypes, and key order does not matter. */
const plain = (value: unknown): unknown => structuredClone(value)

describe.each(KINDS)('$name', ({ format, key, shape, read, texts }) => {
  const pathOf = (name: string): Step[] => [key, shape === 'map' ? name : { where: 'name', is: name }]
  const entryOf = (name: string, url: string): Record<string, Value> => ({
    ...(shape === 'list' ? { name } : {}),
    url,
    type: 'http',
    args: ['--', 'a "quoted" \\ word', ''],
  })
  const names = fc.constantFrom(...NAMES)
  const urls = fc.constantFrom(...URLS)

  test('the samples are valid', () => {
    fc.assert(
      fc.property(texts, text => {
        expect(format.parse(text)).toEqual(read(text) ?? {})
      }),
    )
  })

  test('an added entry is there, and nothing else has changed', () => {
    fc.assert(
      fc.property(texts, names, urls, (text, name, url) => {
        const result = format.set(text, pathOf(name), entryOf(name, url))
        expect(valueIn(read(result), pathOf(name))).toEqual(entryOf(name, url))
        expect(withoutEmpty(read(format.remove(result, pathOf(name))), key)).toEqual(
          withoutEmpty(read(text), key),
        )
        expect(leftOf(text, result)).toBe('')
      }),
    )
  })

  test('what was added and removed leaves the bytes as they were', () => {
    fc.assert(
      fc.property(texts, fc.uniqueArray(names, { minLength: 1 }), urls, (text, some, url) => {
        const section = (read(text) as Record<string, unknown> | null)?.[key]
        const isFilled = typeof section === 'object' && section !== null && Object.keys(section).length > 0
        let result = text
        for (const name of some) result = format.set(result, pathOf(name), entryOf(name, url))
        for (const name of some.toReversed()) result = format.remove(result, pathOf(name))
        if (isFilled) expect(result).toBe(text)
        else expect(leftOf(text, result).replaceAll(/\s/g, '')).toBe('')
      }),
    )
  })

  test('entries removed in any order leave the others as they are', () => {
    fc.assert(
      fc.property(texts, fc.shuffledSubarray(NAMES), urls, (text, order, url) => {
        let result = text
        for (const name of NAMES) result = format.set(result, pathOf(name), entryOf(name, url))
        for (const name of order) result = format.remove(result, pathOf(name))
        const rest = NAMES.filter(name => !order.includes(name))
        for (const name of rest) expect(valueIn(read(result), pathOf(name))).toEqual(entryOf(name, url))
        for (const name of rest) result = format.remove(result, pathOf(name))
        expect(withoutEmpty(read(result), key)).toEqual(withoutEmpty(read(text), key))
      }),
    )
  })

  test('a changed URL changes the URL alone', () => {
    fc.assert(
      fc.property(texts, names, (text, name) => {
        const before = format.set(text, pathOf(name), entryOf(name, 'http://127.0.0.1:59999/old'))
        const after = format.set(before, [...pathOf(name), 'url'], 'http://127.0.0.1:60000/new')
        expect(after).toBe(before.replace('http://127.0.0.1:59999/old', 'http://127.0.0.1:60000/new'))
      }),
    )
  })

  test('a member taken out and set again', () => {
    fc.assert(
      fc.property(texts, names, urls, (text, name, url) => {
        const whole = format.set(text, pathOf(name), entryOf(name, url))
        const less = format.remove(whole, [...pathOf(name), 'type'])
        const { type: _, ...rest } = entryOf(name, url)
        expect(valueIn(read(less), pathOf(name))).toEqual(rest)
        const again = format.set(less, [...pathOf(name), 'type'], 'sse')
        expect(valueIn(read(again), pathOf(name))).toEqual({ ...entryOf(name, url), type: 'sse' })
        expect(withoutEmpty(read(format.remove(again, pathOf(name))), key)).toEqual(
          withoutEmpty(read(text), key),
        )
      }),
    )
  })

  test('what is not there is removed without a change', () => {
    fc.assert(
      fc.property(texts, names, (text, name) => {
        expect(format.remove(text, pathOf(name))).toBe(text)
      }),
    )
  })
})

function valueIn(document: unknown, path: readonly Step[]): unknown {
  return path.reduce<unknown>((value, step) => {
    if (typeof step !== 'string')
      return (value as Record<string, unknown>[]).find(one => one[step.where] === step.is)
    return Object.entries(value as object).find(([name]) => name === step)?.[1]
  }, document)
}

/** An empty section and none are the same to a client. */
function withoutEmpty(document: unknown, key: string): unknown {
  return Object.fromEntries(
    Object.entries(document ?? {}).filter(
      ([name, value]) =>
        name !== key || (typeof value === 'object' && value !== null && Object.keys(value).length > 0),
    ),
  )
}

/**
 * What of the old text is missing when the new one is the old one with insertions: at most an insertion, a comma
 * before it, and what stood for "empty".
 */
function leftOf(before: string, after: string): string {
  let start = 0
  while (start < before.length && before[start] === after[start]) start++
  // A comma may have been inserted some way before the entry.
  let second = start
  if (after[start] === ',' && before[start] !== ',') {
    while (second < before.length && before[second] === after[second + 1]) second++
  }
  let end = 0
  while (end < before.length - second && before[before.length - 1 - end] === after[after.length - 1 - end])
    end++
  return before.slice(second, before.length - end).replace(/^[ \t]*(?:\{\s*\}|\[\s*\]|~|null)?$/, '')
}
