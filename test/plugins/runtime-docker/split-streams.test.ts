import { Duplex, PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as tick } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { splitStreams } from '../../../plugins/runtime-docker/split-streams.ts'

/** A frame of stream `type`, whose header may claim another length than that of its bytes. */
function frame(type: number, bytes: string | Buffer, claimed = bytes.length): Buffer {
  const header = Buffer.from([type, 0, 0, 0, 0, 0, 0, 0])
  header.writeUInt32BE(claimed, 4)
  return Buffer.concat([header, Buffer.from(bytes)])
}

test('standard output and error are kept apart, wherever the engine cuts its bytes', async () => {
  const sent = Buffer.concat([
    frame(1, 'out 1, '),
    frame(2, 'err 1, '),
    frame(1, ''),
    frame(1, 'out 2'),
    frame(2, 'err 2'),
  ])
  for (const size of [1, 3, 8, 9, sent.length]) {
    const source = new PassThrough()
    const { stdout, stderr } = splitStreams(source)
    const both = Promise.all([text(stdout), text(stderr)])
    for (let at = 0; at < sent.length; at += size) source.write(sent.subarray(at, at + size))
    source.end()
    expect(await both).toEqual(['out 1, out 2', 'err 1, err 2'])
  }
})

test('a frame that claims 4 GB is passed on as it comes', async () => {
  const source = new PassThrough()
  const { stdout, stderr } = splitStreams(source)
  const both = Promise.all([text(stdout), text(stderr)])
  source.end(frame(1, 'all there is', 0xffff_ffff))
  expect(await both).toEqual(['all there is', ''])
})

test.each([0, 3, 0x7b])(
  'a frame of stream %i breaks the connection, and what came before is kept',
  async type => {
    const source = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
    const errors: string[] = []
    source.on('error', error => errors.push(error.message))
    const { stdout } = splitStreams(source)
    source.push(Buffer.concat([frame(1, 'before'), frame(type, 'after')]))
    expect(await text(stdout)).toBe('before')
    expect(errors).toEqual(['the engine sent a frame of an unknown stream'])
  },
)

test('while standard output is not read nothing more is taken, however much of the other is', async () => {
  const source = new PassThrough({ highWaterMark: 1024 })
  const { stdout, stderr } = splitStreams(source)
  stderr.resume()
  const part = Buffer.concat([frame(1, Buffer.alloc(10_000)), frame(2, 'e')])
  for (let sent = 0; sent < 1000; sent++) {
    source.write(part)
    await tick()
  }
  expect(stdout.readableLength).toBeLessThan(200_000)
  const read = text(stdout)
  source.end()
  expect((await read).length).toBe(10_000_000)
})
