import { expect, test } from 'vitest'
import { egressWorld, portOf, sendGet, statusOf, webServer } from './egress-world.ts'

const everything = { network: { outbound: { allow_host: ['127.0.0.1'] } } }

test('a door with a peer lets that address in', async () => {
  const web = await webServer()
  const { open } = await egressWorld(everything)
  const door = await open('two', everything, undefined, '127.0.0.1')
  expect(statusOf(await sendGet(portOf(door), `http://127.0.0.1:${web.port}/`))).toBe(200)
})

test('a door with a peer says nothing to anybody else', async () => {
  const web = await webServer()
  const { open, events } = await egressWorld(everything)
  const door = await open('two', everything, undefined, '10.213.0.2')
  expect(await sendGet(portOf(door), `http://127.0.0.1:${web.port}/`)).toBe('')
  expect(web.seen).toEqual([])
  expect(events).toEqual([])
})
