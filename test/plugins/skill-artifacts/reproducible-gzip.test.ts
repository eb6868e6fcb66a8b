import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { gzipReproducibly } from '../../../plugins/skill-artifacts/reproducible-gzip.ts'

async function pack(bytes: Buffer, { piece = 10_000, mtime = 0 } = {}): Promise<Buffer> {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece)
  }
  const packed: Buffer[] = []
  for await (const chunk of gzipReproducibly(pieces(), { mtime })) packed.push(chunk)
  return Buffer.concat(packed)
}
const license = readFileSync(new URL('../../../LICENSE', import.meta.url))

test.each([
  ['nothing', Buffer.alloc(0)],
  ['one byte', Buffer.from('a')],
  ['a text', license],
  ['a text many times, over more than the window', Buffer.concat(Array(30).fill(license))],
  ['zeros over several blocks', Buffer.alloc(300_000)],
  [
    'noise, then text, then noise',
    Buffer.concat([randomBytes(70_000), license, randomBytes(70_000), license]),
  ],
  ['exactly one block', Buffer.alloc(65_535, 'abc')],
  ['every byte', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
  ['the longest and the shortest repetition', Buffer.from(`${'x'.repeat(259)}yabcabc${'x'.repeat(258)}`)],
])('%s unpacks to what it was', async (_, bytes) => {
  expect(gunzipSync(await pack(bytes)).equals(bytes)).toBe(true)
})

test('whatever is packed unpacks to what it was', async () => {
  const words = fc.array(fc.constantFrom('a', 'ab', 'the ', '\0', 'ÿþ', 'keelson ', '\n'), {
    maxLength: 3000,
  })
  await fc.assert(
    fc.asyncProperty(words, fc.integer({ min: 1, max: 4000 }), async (parts, piece) => {
      const bytes = Buffer.from(parts.join(''), 'latin1')
      expect(gunzipSync(await pack(bytes, { piece })).equals(bytes)).toBe(true)
    }),
    { numRuns: 100 },
  )
})

test('the bytes are these, whatever zlib, processor or system', async () => {
  const packed = await pack(license)

  expect(createHash('sha256').update(packed).digest('hex')).toBe(
    '59ef0e5d5c7885ce7e5412cfd100c868e94cc26068e2fa30abf47bda127c4a21',
  )
})

test('how the source is cut does not show', async () => {
  const bytes = Buffer.concat(Array(20).fill(license))

  expect((await pack(bytes, { piece: 1 + 65_535 })).equals(await pack(bytes, { piece: 777 }))).toBe(true)
})

test('text gets about as small as by zlib, noise hardly larger', async () => {
  const noise = randomBytes(1_000_000)

  expect((await pack(license)).length).toBeLessThan(gzipSync(license, { level: 9 }).length * 1.05)
  expect((await pack(noise)).length).toBeLessThan(noise.length * 1.001)
})

test('the header has the time and says nothing of the system', async () => {
  const packed = await pack(license, { mtime: 1_700_000_000 })

  expect([...packed.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0x00, 0xf1, 0x53, 0x65, 2, 255])
})
