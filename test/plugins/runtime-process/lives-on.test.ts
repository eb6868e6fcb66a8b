import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isFailure } from '../../../src/errors.ts'
import { isRunning, processIdentity } from '../../../src/lib/process-identity.ts'
import { freePort } from '../../support/free-port.ts'
import { readUntil } from '../../support/runtime-contract.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { hostRuntime } from './host-runtime.ts'
import { shellInstance } from './shell-instance.ts'

const hasBubblewrap = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', 'true']).status === 0
const modes = hasBubblewrap ? (['plain', 'bubblewrap'] as const) : (['plain'] as const)

async function untilGone(identity: string): Promise<void> {
  for (const end = Date.now() + 10_000; isRunning(identity); await delay(20)) {
    if (Date.now() > end) expect.fail(`${identity} still runs`)
  }
}

describe.each(modes)('%s', mode => {
  const sandbox = mode === 'bubblewrap'

  test('another process finds, reads, watches and stops an instance', async () => {
    const home = await temporaryFolder()
    const first = hostRuntime(home, { sandbox })
    const second = hostRuntime(home, { sandbox })
    onTestFinished(() => second.remove('w'))
    await first.create(shellInstance('echo up; exec sleep 3600'))
    await first.start('w')

    await readUntil(await second.logs('w', { follow: true }), 'up')
    expect(await second.inspect('w')).toMatchObject({ state: 'running' })
    const events = second.watch(AbortSignal.timeout(20_000))[Symbol.asyncIterator]()
    const next = events.next()
    for (let look = 0; look < 3; look++) await second.list() // the watch has taken its first look by then
    await second.stop('w', { graceSeconds: 5 })
    expect((await next).value).toMatchObject({ kind: 'exited', name: 'w' })
    expect(await first.inspect('w')).toMatchObject({ state: 'exited' })
  })

  test('a stdio instance ends when the process that holds its streams is killed, even if it ignores the end of its input', async () => {
    const home = await temporaryFolder()
    const runtime = hostRuntime(home, { sandbox })
    const script = 'trap "" PIPE HUP TERM; echo ready; while :; do sleep 1; done'
    const holder = spawn(process.execPath, [
      join(import.meta.dirname, 'attach-and-wait.ts'),
      home,
      mode,
      script,
    ])
    await readUntil(holder.stdout, 'ready')
    const record = JSON.parse(await readFile(join(home, 'processes/w/instance.json'), 'utf8'))
    holder.kill('SIGKILL')
    await once(holder, 'exit')

    expect(await runtime.inspect('w')).toMatchObject({ state: 'exited' })
    await untilGone(record.process.identity)
    await runtime.remove('w')
  })

  test('what a program left behind ends with it', async () => {
    const runtime = hostRuntime(await temporaryFolder(), { sandbox })
    onTestFinished(() => runtime.remove('w'))
    await runtime.create(shellInstance('sleep 3600 & echo child $!; exit 3'))
    await runtime.start('w')
    const log = await text(await runtime.logs('w', { follow: true }))
    expect(await runtime.inspect('w')).toMatchObject({ state: 'exited', exitCode: 3 })
    const child = Number(/child (\d+)/.exec(log)?.[1])
    if (!sandbox) await expect.poll(() => processIdentity(child), { timeout: 10_000 }).toBeUndefined()
  })

  test('a program may clean up when it is asked to end', async () => {
    const runtime = hostRuntime(await temporaryFolder(), { sandbox })
    onTestFinished(() => runtime.remove('w'))
    await runtime.create(
      shellInstance('trap "sleep 0.3; echo bye; exit 5" TERM; echo up; while :; do sleep 0.1; done'),
    )
    await runtime.start('w')
    await readUntil(await runtime.logs('w', { follow: true }), 'up')
    await runtime.stop('w', { graceSeconds: 10 })
    expect(await text(await runtime.logs('w'))).toContain('bye')
    expect(await runtime.inspect('w')).toMatchObject({ state: 'exited', exitCode: 5 })
  })
})

test('values of the environment are on no disk', async () => {
  const home = await temporaryFolder()
  const runtime = hostRuntime(home, { sandbox: false })
  onTestFinished(() => runtime.remove('w'))
  await runtime.create(shellInstance('exec sleep 3600', { env: { TOKEN: 'a-very-secret-value' } }))
  await runtime.start('w')
  const files = (await readdir(home, { recursive: true, withFileTypes: true })).filter(entry =>
    entry.isFile(),
  )
  expect(files.length).toBeGreaterThan(0)
  for (const file of files) {
    expect(await readFile(join(file.parentPath, file.name), 'utf8')).not.toContain('a-very-secret-value')
  }
})

test('another process cannot start the instance, and fails with the reason', async () => {
  const home = await temporaryFolder()
  await hostRuntime(home, { sandbox: false }).create(shellInstance('true'))
  const second = hostRuntime(home, { sandbox: false })
  await expect(second.start('w')).rejects.toSatisfy(error => isFailure(error, 'process_forgotten'))
})

test('a port that another program has is refused at the start', async () => {
  const port = await freePort()
  const other = createServer().listen(port, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const runtime = hostRuntime(await temporaryFolder(), { sandbox: false })
  await runtime.create(shellInstance('true', { ports: [{ instancePort: port, address: '127.0.0.1' }] }))
  await expect(runtime.start('w')).rejects.toSatisfy(error => isFailure(error, 'instance_port_busy'))
  expect(await runtime.inspect('w')).toMatchObject({ state: 'created' })
})
