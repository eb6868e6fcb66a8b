import { chmod, stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { toEntry } from '../../../plugins/clients/entry.ts'
import { formatOf } from '../../../plugins/clients/formats/format-of.ts'
import { valueAt } from '../../../plugins/clients/formats/only-change.ts'
import { CLIENTS, pathOf } from '../../../plugins/clients/known-clients.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { deskAt, PROGRAM, up } from './desk.ts'

/** Where a client's entry has it. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  codex: ['http_headers'],
  continue: ['requestOptions', 'headers'],
}

const overHttp = CLIENTS.filter(({ url }) => url).map(({ id }) => id)

test.each(overHttp)('%s gets the token with the entry, and loses it again', async id => {
  let token: string | undefined = 'one'
  const desk = deskAt(await temporaryFolder(), undefined, () => token)
  const client = desk.clients.get(id)
  const format = await formatOf(client.format)
  const entry = async () => valueAt(format.parse(await desk.read(id)), pathOf(client, 'time'))
  const held = async () => valueAt(await entry(), [...(PLACES[id] ?? ['headers']), 'keelson-caller-token'])
  desk.workloads.push(up('time'))
  expect(await desk.clients.register([id])).toEqual([])
  expect(await held()).toBe('one')

  token = 'two'
  await chmod(desk.fileOf(id), 0o644)
  expect(await desk.clients.sync()).toEqual([])
  expect(await held()).toBe('two')
  expect((await stat(desk.fileOf(id))).mode & 0o777).toBe(0o600)

  token = undefined
  expect(await desk.clients.sync()).toEqual([])
  const { name, url } = up('time')
  expect(await entry()).toEqual(
    toEntry(client, { name, url, mode: 'streamable-http', program: ['/node', '/keelson'], folders: {} }),
  )

  token = 'three'
  expect(await desk.clients.sync()).toEqual([])
  expect(await held()).toBe('three')
})

test('an entry that starts keelson has no token: the program reads it itself', async () => {
  const desk = deskAt(await temporaryFolder(), undefined, () => 'one')
  desk.workloads.push(up('time'))
  expect(await desk.clients.register(['claude-desktop'])).toEqual([])
  expect(JSON.parse(await desk.read('claude-desktop'))).toEqual({
    mcpServers: { time: { command: process.execPath, args: [PROGRAM, 'proxy', 'stdio', 'time'] } },
  })
})

test('other headers of an entry stay', async () => {
  let token: string | undefined
  const desk = deskAt(await temporaryFolder(), undefined, () => token)
  desk.workloads.push(up('time'))
  await desk.clients.register(['cursor'])
  const entry = async () => JSON.parse(await desk.read('cursor')).mcpServers.time
  await desk.write('cursor', (await desk.read('cursor')).replace('"url"', '"headers": {"x-own": "1"}, "url"'))

  token = 'one'
  expect(await desk.clients.sync()).toEqual([])
  expect((await entry()).headers).toEqual({ 'x-own': '1', 'keelson-caller-token': 'one' })

  token = undefined
  expect(await desk.clients.sync()).toEqual([])
  expect((await entry()).headers).toEqual({ 'x-own': '1' })
})
