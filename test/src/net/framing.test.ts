import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFramer, idOfOversize } from '../../../src/net/framing.ts'

function collect(chunks: Buffer[], maxLine = 1000) {
  const lines: string[] = []
  const oversize: { head: string; tail: string; bytes: number }[] = []
  const framer = createFramer({
    maxLine,
    onLine: line => lines.push(Buffer.from(line, 'latin1').toString('utf8')),
    onOversize: (head, tail, bytes) => oversize.push({ head, tail, bytes }),
  })
  for (const chunk of chunks) framer.push(chunk)
  framer.end()
  return { lines, oversize }
}

test('however the bytes are cut, the lines are the same', () => {
  const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter(text => !/[\r\n]/.test(text))
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(50)), fc.constantFrom('\n', '\r\n'), (lines, cuts, end) => {
      let rest = Buffer.from(lines.map(text => text + end).join(''))
      const chunks: Buffer[] = []
      for (const cut of cuts) {
        chunks.push(rest.subarray(0, cut))
        rest = rest.subarray(cut)
      }
      expect(collect([...chunks, rest]).lines).toEqual(lines)
    }),
  )
})

describe('a line that is too long', () => {
  test('is thrown away and its neighbours are not', () => {
    const text = `{"a":1}\n${'x'.repeat(5000)}\n{"b":2}\n`
    for (const size of [1, 7, 100, 10_000]) {
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g'))?.map(part => Buffer.from(part)) ?? []
      const { lines, oversize } = collect(chunks)
      expect(lines).toEqual(['{"a":1}', '{"b":2}'])
      expect(oversize.map(({ bytes }) => bytes)).toEqual([5000])
    }
  })

  test.each([1, 300, 100_000])('tells its id by its head or its tail, in chunks of %i', size => {
    const big = 'x'.repeat(5000)
    for (const [text, id] of [
      [`{"jsonrpc":"2.0","id":12,"result":"${big}"}`, '12'],
      [`{"result":{"a":"${big}"},"jsonrpc":"2.0","id":13}`, '13'],
      [`{"result":{"a":"${big}"},"id":14,"jsonrpc":"2.0"}`, '14'],
      [`{"result":{"id":15,"a":"${big}"}}`, undefined],
      [`{"result":"${big} ,\\"id\\":16}"}`, undefined],
    ] as const) {
      const chunks = text.match(new RegExp(`.{1,${size}}`, 'g'))?.map(part => Buffer.from(part)) ?? []
      const [found] = collect(chunks).oversize
      expect(found && idOfOversize(found.head, found.tail)).toBe(id)
    }
  })
})
