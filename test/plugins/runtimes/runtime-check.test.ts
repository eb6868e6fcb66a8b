import { expect, test } from 'vitest'
import { fakeProgram, saying } from '../../support/fake-program.ts'
import { keelsonUser } from '../../support/keelson.ts'

const DOWN =
  'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?'
const UP = `echo '{"Server":{"Version":"28.0.1"}}'`

test('prints a line for each runtime, with what to do about it', async () => {
  const user = await keelsonUser()
  const { PATH = '' } = await fakeProgram('docker', saying(DOWN))
  const { stdout } = await user.run(['runtime', 'check'], { env: { PATH } })
  expect(stdout).toMatch(/^docker: the engine is not running: .*systemctl start docker/m)
})

test('a named one that works: version, exit 0', async () => {
  const user = await keelsonUser()
  const env = await fakeProgram('docker', UP)
  const { stdout, code } = await user.run(['runtime', 'check', '--runtime', 'docker', '--format', 'json'], {
    env,
  })
  expect(JSON.parse(stdout)).toEqual([{ runtime: 'docker', usable: true, version: '28.0.1', warnings: [] }])
  expect(code).toBe(0)
})

test('a named one that does not work: exit 1, with problem and hint', async () => {
  const user = await keelsonUser()
  const env = await fakeProgram('docker', saying(DOWN))
  const { stdout, code } = await user.run(['runtime', 'check', '--runtime', 'docker', '--format', 'json'], {
    env,
  })
  expect(JSON.parse(stdout)).toEqual([
    {
      runtime: 'docker',
      usable: false,
      problem: expect.stringContaining('not running'),
      hint: expect.stringContaining('systemctl'),
    },
  ])
  expect(code).toBe(1)
})

test('one that never responds is given up after --timeout', async () => {
  const user = await keelsonUser()
  const env = await fakeProgram('docker', 'exec sleep 600')
  const { stdout, code } = await user.run(['runtime', 'check', '--runtime', 'docker', '--timeout', '1'], {
    env,
  })
  expect(stdout).toMatch(/^docker +no +-\n\ndocker: it did not respond/m)
  expect(code).toBe(1)
})

test('an unknown name is one line on standard error', async () => {
  const user = await keelsonUser()
  const { stdout, stderr, code } = await user.run(['runtime', 'check', '--runtime', 'nope'])
  expect(stderr).toContain('Error: There is no runtime "nope"')
  expect(stderr).toContain('There are: docker, podman')
  expect({ stdout, code }).toEqual({ stdout: '', code: 2 })
})

test.each(['0', '-1', 'soon', '1.5'])('--timeout %s is wrong usage', async value => {
  const user = await keelsonUser()
  const { stderr, code } = await user.run(['runtime', 'check', `--timeout=${value}`])
  expect(stderr).toContain('--timeout')
  expect(code).toBe(2)
})
