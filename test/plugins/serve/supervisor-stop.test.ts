import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { main } from '../../support/main.ts'
import { answering } from '../workloads/answering-server.ts'

test('supervisor stop takes the workloads from serve, and the next list has them hosted again', async () => {
  const api = await startApi()
  const { env, home } = api.user
  const keelson = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [main, ...args], { env, cwd: home })).stdout
  await keelson('run', await answering(), '--name', 'notes', '--transport', 'streamable-http')
  const [{ url }] = JSON.parse(await keelson('list', '--format', 'json'))
  const isReachable = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  expect(await keelson('supervisor', 'status')).toContain(String(api.process.pid))
  expect(await isReachable()).toBe(true)

  const said = await keelson('supervisor', 'stop')
  expect(said).toContain(
    `Process ${api.process.pid} no longer hosts workloads, and keeps running as \`keelson serve\`.`,
  )
  expect(await isReachable()).toBe(false)
  expect((await fetch(`${api.url}/health`)).status).toBe(204)

  await keelson('list')
  await expect.poll(isReachable).toBe(true)
  expect(await keelson('supervisor', 'status')).not.toContain(String(api.process.pid))
  await keelson('rm', 'notes')
})
