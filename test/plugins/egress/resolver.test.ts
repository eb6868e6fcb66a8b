import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createResolver } from '../../../plugins/egress/resolver.ts'

/** A name server on loopback (RFC 1035) that knows A records only. Answers with its address and what it was asked. */
async function nameServer(names: Record<string, string>, ttl = 30) {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, from) => {
    const labels: string[] = []
    let at = 12
    while (query[at]) {
      const length = query[at] ?? 0
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const type = query.readUInt16BE(at + 1)
    const name = labels.join('.')
    if (type === 1) asked.push(name)
    const address = type === 1 ? names[name] : undefined
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(name in names ? 0x8180 : 0x8183, 2)
    header.writeUInt16BE(address ? 1 : 0, 6)
    header.writeUInt32BE(0, 8)
    const answer = Buffer.from([
      0xc0,
      12,
      0,
      1,
      0,
      1,
      0,
      0,
      0,
      ttl,
      0,
      4,
      ...(address ?? '').split('.').map(Number),
    ])
    socket.send([header, query.subarray(12, at + 5), ...(address ? [answer] : [])], from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return { servers: [`127.0.0.1:${socket.address().port}`], asked }
}

async function hostsFile(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'egress-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'hosts')
  await writeFile(path, text)
  return path
}

test('the name servers are asked once within the time to live', async () => {
  const { servers, asked } = await nameServer({ 'a.test': '93.184.216.34' }, 30)
  let time = 0
  const resolve = createResolver({ servers, hostsFile: '/nowhere', now: () => time })

  expect(await Promise.all([resolve('a.test'), resolve('a.test')])).toEqual([
    ['93.184.216.34'],
    ['93.184.216.34'],
  ])
  time = 29_000
  await resolve('a.test')
  expect(asked).toEqual(['a.test'])
  time = 31_000
  await resolve('a.test')
  expect(asked).toEqual(['a.test', 'a.test'])
})

test('a name that does not exist has no address', async () => {
  const { servers } = await nameServer({})
  expect(await createResolver({ servers, hostsFile: '/nowhere' })('gone.test')).toEqual([])
})

test('the hosts file comes first, and is read again when it changes', async () => {
  const { servers, asked } = await nameServer({ 'db.test': '93.184.216.34' })
  const path = await hostsFile('# ours\n10.0.0.5 DB.test other.test # x\n::1 db.test\nnonsense\n')
  let time = 0
  const resolve = createResolver({ servers, hostsFile: path, now: () => time })

  expect(await resolve('db.test')).toEqual(['10.0.0.5', '::1'])
  expect(asked).toEqual([])

  await writeFile(path, '')
  await utimes(path, 1, 1)
  time = 10_000
  expect(await resolve('db.test')).toEqual(['93.184.216.34'])
})
