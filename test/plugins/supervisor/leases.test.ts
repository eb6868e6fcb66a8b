import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLeases } from '../../../plugins/supervisor/leases.ts'
import { writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import { processIdentity } from '../../../src/lib/process-identity.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ks-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Another process that says it hosts the workload. */
async function holder(name: string, script = 'setInterval(() => {}, 1000)') {
  const child = spawn(process.execPath, ['-e', `${script};process.stdout.write("up")`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  await writeFileAtomic(join(folder, name), processIdentity(child.pid ?? 0) ?? '')
  return child
}

test('a lease is given once, and again after its release', async () => {
  const leases = createLeases({ folder })
  const lease = await leases.take('web')
  await expect(leases.take('web')).rejects.toMatchObject({ code: 'hosted_elsewhere' })
  await leases.take('other')
  await lease.release()
  await leases.take('web')
})

test('the lease of an ended process is free', async () => {
  await writeFileAtomic(join(folder, 'web'), '999999@1')
  const leases = createLeases({ folder })
  expect(await leases.holder('web')).toBeUndefined()
  await leases.take('web')
  expect(await readdir(folder)).toEqual(['web'])
})

test('a process that reuses the number of an ended holder is not asked to end', async () => {
  const stranger = await holder('other')
  await writeFileAtomic(join(folder, 'web'), `${stranger.pid}@1`)
  expect(await createLeases({ folder }).evict('web')).toBe(false)
  expect(stranger.exitCode).toBeNull()
  expect(stranger.signalCode).toBeNull()
  stranger.kill('SIGKILL')
})

test('nobody is asked to end for a workload of our own', async () => {
  const leases = createLeases({ folder })
  await leases.take('web')
  expect(await leases.evict('web')).toBe(false)
})

test('a holder that does not go is named', async () => {
  const stubborn = await holder('web', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)')
  await expect(createLeases({ folder, evictionMs: 200 }).evict('web')).rejects.toMatchObject({
    code: 'host_stays',
    message: expect.stringContaining(String(stubborn.pid)),
  })
  stubborn.kill('SIGKILL')
})
