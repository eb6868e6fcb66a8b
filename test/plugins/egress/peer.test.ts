import { expect, test } from 'vitest'
import { egressWorld, portOf, sendGet, statusOf, webServer } from './egress-world.ts'

const everything = { network: { outbound: { allow_host: ['127.0.0.1'] } } }

test('a listener with a peer accepts that address', async () => {
  const web = await webServer()
  const { open } = await egressWorld(everything)
  const listener = await open('two', everything, undefined, '127.0.0.1')
  expect(statusOf(await sendGet(portOf(listener), `http://127.0.0.1:${web.port}/`))).toBe(200)
})

test('a listener with a peer sends nothing to other addresses', async () => {
  const web = await webServer()
  const { open, events } = await egressWorld(everything)
  const listener = await open('two', everything, undefined, '10.213.0.2')
  expect(await sendGet(portOf(listener), `http://127.0.0.1:${web.port}/`)).toBe('')
  expect(web.seen).toEqual([])
  expect(events).toEqual([])
})
