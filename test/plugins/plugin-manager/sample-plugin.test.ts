import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { keelsonUser } from '../../support/keelson.ts'
import { main } from '../../support/main.ts'

const sample = new URL('../../../fixtures/sample-plugin', import.meta.url).pathname

async function userWithSample() {
  const user = await keelsonUser()
  const folder = join(user.home, 'copy')
  await cp(sample, folder, { recursive: true })
  const added = await user.run(['plugin', 'add', './copy', '--yes'])
  expect(added).toMatchObject({ code: 0, stdout: '' })
  return user
}

test('the sample plugin adds its command to the program', async () => {
  const user = await userWithSample()

  const { code, stdout, stderr } = await user.run(['sample'])

  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'sample/echo\n', stderr: '' })
})

test('the sample plugin works after the folder that it was added from is removed', async () => {
  const user = await userWithSample()
  await rm(join(user.home, 'copy'), { recursive: true })

  const { stdout } = await user.run(['sample', '--format', 'json'])

  expect(JSON.parse(stdout)).toEqual(['sample/echo'])
})

test('the runtime of the sample plugin is one of the runtimes, and runs an instance', async () => {
  const user = await userWithSample()
  const script = new URL('./use-sample-runtime.ts', import.meta.url).pathname

  const { stdout } = await execa(process.execPath, [script], { env: user.env, extendEnv: false })

  expect(JSON.parse(stdout)).toEqual({
    runtimes: ['sample'],
    answer: { jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: 'ahoy' }] } },
    states: ['created', 'running'],
    exit: { code: 137, reason: expect.stringMatching(/^SIG(TERM|KILL)$/) },
    left: [],
  })
})

test('the runtime of the sample plugin is chosen with --runtime; a tool of its server answers through the proxy', async () => {
  const user = await userWithSample()
  const flags = ['--runtime', 'sample', '--transport', 'stdio', '--name', 'parrot', '--foreground']
  const running = execa(process.execPath, [main, 'run', 'sample/echo', ...flags], {
    cwd: user.home,
    env: user.env,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  })
  onTestFinished(() => void running.kill('SIGKILL'))
  await new Promise(resolve => running.stdout.on('data', resolve)) // the URL, when it is up

  const called = await user.run(['mcp', 'call', 'echo', '--server', 'parrot', '--args', '{"text":"ahoy"}'])
  running.kill('SIGINT')
  await running

  expect(called).toEqual({ code: 0, stdout: 'ahoy\n', stderr: '' })
  expect((await user.run(['list', '--all', '--format', 'json'])).stdout).toBe('[]\n')
})

test('`runtime check` knows the runtime of the sample plugin', async () => {
  const user = await userWithSample()

  const { code, stdout } = await user.run(['runtime', 'check', '--runtime', 'sample'])

  expect(code).toBe(0)
  expect(stdout).toMatch(/^sample\s+yes\s/m)
})
