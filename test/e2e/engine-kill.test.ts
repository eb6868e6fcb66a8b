import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { openHome, until } from './home.ts'
import { startLoad } from './load.ts'
import { flagsOf, leftOvers } from './places-to-run.ts'

// Kills the Docker daemon of this machine, which everything else here may be using: it runs alone, and
// only when asked for (KEELSON_TEST_ENGINE_KILL=1; `npm test` does so in CI, after all other tests).
const repository = new URL('../..', import.meta.url).pathname
const setup = `${repository}/test/support/engines/setup.sh`
const add = { name: 'add', args: (n: number) => ({ a: n, b: 1 }), right: (n: number) => String(n + 1) }

test.runIf(process.env.KEELSON_TEST_ENGINE_KILL === '1')(
  'dockerd is killed under load and started again: the workload answers without help, and rm clears it',
  { timeout: 400_000 },
  async () => {
    const home = await openHome()
    onTestFinished(() => home.close(), 120_000)
    const name = 'e2e-engine-kill'
    const url = await home.ok(
      ['run', 'go://./fixtures/go-server', '--name', name, ...flagsOf('docker', 'go')],
      {
        cwd: repository,
      },
    )
    const load = startLoad(url, 4, add)
    onTestFinished(() => load.stop())
    await until(() => expect(load.answers).toBeGreaterThan(50))

    process.kill(Number(readFileSync('/var/run/docker.pid', 'utf8')), 'SIGKILL')
    await until(async () => expect(await home.ok(['status', name])).not.toContain('running'))
    const { status, stderr } = spawnSync('bash', [setup], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)

    const before = load.answers
    await until(() => expect(load.answers).toBeGreaterThan(before + 50), 150)
    await until(async () => expect(await home.ok(['status', name])).toContain('running'))
    await load.stop()
    expect(load.wrong).toBe(0)
    await home.ok(['rm', name])
    expect(leftOvers('docker', name)).toEqual([])
  },
)
