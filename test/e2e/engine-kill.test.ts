import { spawnSync } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../support/left-out.ts'
import { openHome, until } from './home.ts'
import { startLoad } from './load.ts'
import { daemonProblem, ownDaemon } from './own-daemon.ts'
import { flagsOf, needsPlace } from './places-to-run.ts'

// A Docker daemon of the test's own, since the machine's is in use by others: it has no network, which a
// stdio server does not need.
const repository = new URL('../..', import.meta.url).pathname
const NAME = 'e2e-engine-kill'
const add = { name: 'add', args: (n: number) => ({ a: n, b: 1 }), right: (n: number) => String(n + 1) }

test('a workload responds again after its engine was killed under load and started again', {
  timeout: 400_000,
}, async context => {
  needsPlace(context, 'docker', 'go')
  needs(context, daemonProblem())
  const daemon = await ownDaemon({ bridge: false })
  onTestFinished(() => daemon.close(), 60_000)
  await daemon.start()
  const builder = await openHome()
  onTestFinished(() => builder.close(), 60_000)
  const build = ['build', 'go://./fixtures/go-server', ...flagsOf('docker', 'go')]
  const image = await builder.ok(build, { cwd: repository })
  await daemon.give(image)

  const home = await openHome({ DOCKER_HOST: daemon.host })
  onTestFinished(() => home.close(), 60_000)
  const args = [
    'run',
    image,
    '--runtime',
    'docker',
    '--transport',
    'stdio',
    '--network',
    'none',
    '--name',
    NAME,
  ]
  const url = await home.ok(args)
  const statusNow = async () =>
    (JSON.parse(await home.ok(['status', NAME, '--format', 'json'])) as { status: string }).status
  const load = startLoad(url, 4, add)
  onTestFinished(() => load.stop())
  await until(() => expect(load.answers).toBeGreaterThan(50))

  await daemon.kill()
  await until(async () => expect(await statusNow()).toBe('unhealthy'))
  await daemon.start()

  const before = load.answers
  await until(() => expect(load.answers).toBeGreaterThan(before + 50), 150)
  await until(async () => expect(await statusNow()).toBe('running'))
  await load.stop()
  expect({ wrong: load.wrong, lost: load.lost }).toEqual({ wrong: 0, lost: [] })
  await home.ok(['rm', NAME])
  const left = spawnSync('docker', ['--host', daemon.host, 'ps', '--all', '--quiet'], { encoding: 'utf8' })
  expect(left).toMatchObject({ status: 0, stdout: '' })
})
