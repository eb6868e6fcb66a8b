import { expect, test } from 'vitest'
import { freePort } from '../../support/free-port.ts'
import { testHome } from '../auth-out/guarded-server.ts'

test('run of a server that does not respond exits with 1 and says why; the workload stays, unhealthy', {
  timeout: 120_000,
}, async () => {
  const home = await testHome({ secrets: false })
  const url = `http://127.0.0.1:${await freePort()}/mcp`
  const { code, stderr } = await home.keelson(['run', url, '--name', 'away'])
  expect(code).toBe(1)
  expect(stderr).toMatch(/away is unhealthy.*: .+\nClients connect to:/)
  expect(JSON.parse(await home.ok(['list', '--format', 'json']))).toMatchObject([
    { name: 'away', status: 'unhealthy' },
  ])
})
