import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { clean, printable, printableJson, printableStream } from '../../../src/lib/printable.ts'

const STEERING = [
  ...Array.from({ length: 0x20 }, (_, code) => code).filter(code => code !== 0x09 && code !== 0x0a),
  ...Array.from({ length: 0x21 }, (_, i) => 0x7f + i),
  ...[0x061c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e],
  ...[0x2066, 0x2067, 0x2068, 0x2069],
].map(code => String.fromCharCode(code))

/** Bytes in chunks of a given size, as a pipe may deliver them. */
function* inChunks(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function through(bytes: Buffer, size: number): Promise<string> {
  const stream = printableStream()
  const read = text(stream)
  for (const chunk of inChunks(bytes, size)) stream.write(chunk)
  stream.end()
  return read
}

test.each(STEERING)('%j never comes through', async character => {
  const hostile = `a${character}b\nc`
  for (const shown of [printable(hostile), clean(hostile), await through(Buffer.from(hostile), 1)])
    expect(shown).not.toContain(character)
  const json = printableJson(JSON.stringify({ [hostile]: hostile }))
  expect(json).not.toContain(character)
  expect(JSON.parse(json)).toEqual({ [hostile]: hostile })
})

test('text with lines keeps its lines and tabs, and shows what was taken out of it', () => {
  expect(printable('one\ttwo\r\nthree\rfour')).toBe('one\ttwo\nthree\\u000dfour')
  expect(printable('\u001b[31mred\u001b[0m \u009b2Jgone \u001b]0;title\u0007x')).toBe('red gone x')
  expect(printable('txt.\u202eexe')).toBe('txt.\\u202eexe')
})

test.each([1, 2, 3, 1000])('a stream in chunks of %i keeps colours and nothing else', async size => {
  const given = Buffer.from('\u001b[1;31mré\u001b[0m\r\n\u001b[2J\u001b]52;c;AAAA\u0007\u009b6n\u202eend\r')
  expect(await through(given, size)).toBe(
    '\u001b[1;31mré\u001b[0m\n\\u001b[2J\\u001b]52;c;AAAA\\u0007\\u009b6n\\u202eend\\u000d\u001b[0m',
  )
})

test('a colour that never ends is not waited for', async () => {
  const given = `\u001b[${'1;'.repeat(1000)}m`
  expect((await through(Buffer.from(given), 100)).length).toBeGreaterThan(1000)
})
