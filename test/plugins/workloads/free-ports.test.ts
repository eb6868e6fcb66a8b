import { expect, test } from 'vitest'
import { findUntakenPort, portsOfOthers } from '../../../plugins/workloads/free-ports.ts'

test('a chosen port is not one of a workload that is stopped now', async () => {
  const taken = new Set(Array.from({ length: 22_768 }, (_, i) => 10_000 + i).filter(port => port % 50))
  expect((await findUntakenPort(taken)) % 50).toBe(0)
})

test('the ports of others are those of their proxies and of their servers', async () => {
  const configs = {
    list: async () => [
      { name: 'a', port: 1, target_port: 2 },
      { name: 'b', port: 3 },
    ],
  }
  expect(await portsOfOthers({ configs } as never, 'b')).toEqual(new Set([1, 2]))
})
