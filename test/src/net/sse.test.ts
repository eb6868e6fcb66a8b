import { expect, test } from 'vitest'
import { formatSse, readSse, type SseEvent } from '../../../src/net/sse.ts'

async function read(chunks: readonly Uint8Array[], maxBytes = 1000): Promise<SseEvent[]> {
  async function* body() {
    yield* chunks
  }
  const events: SseEvent[] = []
  for await (const event of readSse(body(), { maxBytes })) events.push(event)
  return events
}

const bytewise = (text: string): Uint8Array[] => [...Buffer.from(text)].map(byte => Uint8Array.of(byte))

test('data with line breaks becomes several data lines', () => {
  expect(formatSse({ event: 'message', id: '1', data: 'a\nb' })).toBe(
    'event: message\nid: 1\ndata: a\ndata: b\n\n',
  )
})

test.each([
  ['LF', '\n'],
  ['CRLF', '\r\n'],
])('events are read byte by byte, with lines that end with %s', async (_name, end) => {
  const text = '\uFEFF: hello\nretry: 5\n\nevent: a\nid: 7\ndata: {"é":\ndata:"→"}\n\ndata\n\ndata: cut off\n'
  expect(await read(bytewise(text.replaceAll('\n', end)))).toEqual([
    { event: 'a', id: '7', data: '{"é":\n"→"}' },
    { data: '' },
  ])
})

test('lines may end with CR alone', async () => {
  expect(await read([Buffer.from('data: 1\r\rdata: 2\r\rdata: 3\r')])).toEqual([{ data: '1' }, { data: '2' }])
})

test('what is written is read again', async () => {
  const events = [{ event: 'log', data: 'a\nb' }, { id: '3', data: ' c: d' }, { data: '' }]
  expect(await read(bytewise(events.map(formatSse).join('')))).toEqual(events)
})

test('a stream longer than the bound is refused', async () => {
  await expect(read([Buffer.from('data: 12345\n\n')], 8)).rejects.toThrow('too long')
})
