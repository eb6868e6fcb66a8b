import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { expect, test, vi } from 'vitest'
import { keelsonUser } from '../../support/keelson.ts'

// Each starts the program, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const config = async (...args: string[]) => {
  const user = await keelsonUser()
  return user.run(['config', ...args])
}

test('a CA certificate is set, shown, missed and unset', async () => {
  const user = await keelsonUser()
  const path = join(user.home, 'ca.pem')
  await writeFile(path, rootCertificates.slice(0, 2).join('\n'))

  expect(await user.run(['config', 'get-ca-cert'])).toMatchObject({
    code: 0,
    stdout: 'No CA certificate is set.\n',
  })
  expect(await user.run(['config', 'set-ca-cert', 'ca.pem'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '',
  })
  expect((await user.run(['config', 'get-ca-cert'])).stdout).toBe(`CA certificate: ${path}\n`)
  await writeFile(path, 'rubbish')
  expect((await user.run(['config', 'get-ca-cert'])).stdout).toContain('Warning:')
  expect(await user.run(['config', 'unset-ca-cert'])).toMatchObject({ code: 0, stdout: '' })
  expect((await user.run(['config', 'unset-ca-cert'])).stdout).toBe('No CA certificate is set.\n')
})

test.each([
  ['text', 'it holds no certificate'],
  ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'certificate 1 cannot be read'],
])('%j is not a CA certificate', async (text, problem) => {
  const user = await keelsonUser()
  await writeFile(join(user.home, 'ca.pem'), text)

  const shown = await user.run(['config', 'set-ca-cert', 'ca.pem'])

  expect(shown.code).toBe(1)
  expect(shown.stderr).toContain(problem)
})

test('a registry file is set, shown, missed and unset', async () => {
  const user = await keelsonUser()
  const path = join(user.home, 'r.json')
  const server = { name: 'a.b/c', description: 'd', version: '1' }
  await writeFile(path, JSON.stringify({ version: '1.0.0', data: { servers: [server] } }))

  expect((await user.run(['config', 'get-registry'])).stdout).toBe('Registry: built-in catalogue\n')
  expect(await user.run(['config', 'set-registry', 'r.json'])).toMatchObject({ code: 0, stdout: '' })
  expect((await user.run(['config', 'get-registry'])).stdout).toBe(`Registry: ${path} (local file)\n`)

  await rm(path)
  expect((await user.run(['config', 'get-registry'])).stdout).toContain('Warning:')
  expect(await user.run(['config', 'unset-registry'])).toMatchObject({ code: 0, stdout: '' })
  expect(await user.run(['config', 'unset-registry'])).toMatchObject({ code: 0, stdout: '' })
})

test.each([
  [['set-registry', 'x.json', '--issuer', 'https://i.example'], 'go together'],
  [['set-registry', 'x.json', '--scopes', 'a'], 'need --issuer'],
  [['set-registry', 'x.json', '--issuer', 'http://i.example', '--client-id', 'c'], 'https URL'],
  [['set-build-env', 'path', 'x'], 'capital letters'],
  [['set-build-env', 'PATH', 'x'], 'builds depend on it'],
  [['set-build-env', 'A', '$(id)'], 'a shell acts on'],
  [['set-build-env', 'A', 'x\ny'], 'line break'],
  [['set-build-env', 'A'], 'A needs a value'],
  [['set-build-env', 'A', 'x', '--from-env'], 'takes no VALUE'],
  [['set-build-env', 'A', '--from-env', '--from-secret'], 'exclude each other'],
  [['unset-build-env'], 'Give a KEY, or --all'],
  [['usage-metrics', 'maybe'], 'enable or disable'],
  [['otel', 'set-endpoint', 'https://x:4318'], 'without a scheme'],
  [['otel', 'set-sampling-rate', '1.5'], 'from 0 to 1'],
  [['otel', 'set-sampling-rate', 'half'], 'from 0 to 1'],
  [['otel', 'set-insecure', 'perhaps'], 'true or false'],
])('config %j is refused', async (args, text) => {
  const shown = await config(...args)

  expect(shown.code).toBe(2)
  expect(shown.stdout).toBe('')
  expect(shown.stderr).toContain(text)
})

test('a refused value is not repeated', async () => {
  expect((await config('set-build-env', 'A', 'hunter2;')).stderr).not.toContain('hunter2')
})

test('build variables are set, listed in order and unset', async () => {
  const user = await keelsonUser()
  const run = (...args: string[]) => user.run(['config', ...args])
  await run('set-build-env', 'ZED', 'z')
  await run('set-build-env', 'ALPHA', 'https://npm.example.com/x')
  await run('set-build-env', 'MIDDLE', '--from-env')

  expect((await run('get-build-env')).stdout).toBe(
    'Environment variables of builds:\n  ALPHA=https://npm.example.com/x\n  MIDDLE=<from-env>\n  ZED=z\n',
  )
  expect((await run('get-build-env', 'ZED')).stdout).toBe('ZED=z\n')
  await run('set-build-env', 'ZED', '--from-env')
  expect((await run('get-build-env', 'ZED')).stdout).toBe('ZED=<from-env>\n')
  expect(await run('unset-build-env', 'NOPE')).toMatchObject({
    code: 0,
    stdout: 'NOPE is not set for builds.\n',
  })
  await run('unset-build-env', '--all')
  expect((await run('get-build-env')).stdout).toBe('No environment variable is set for builds.\n')
})

test.each([
  ['endpoint', 'localhost:4318', 'localhost:4318'],
  ['sampling-rate', '0', '0.000000'],
  ['sampling-rate', '0.25', '0.250000'],
  ['env-vars', 'A, B,,C', 'A, B, C'],
  ['metrics-enabled', 'f', 'false'],
  ['tracing-enabled', 'T', 'true'],
  ['insecure', '1', 'true'],
  ['enable-prometheus-metrics-path', 'FALSE', 'false'],
])('otel %s is set to %s, shown and unset', async (word, value, shown) => {
  const user = await keelsonUser()
  const run = (...args: string[]) => user.run(['config', 'otel', ...args])

  expect((await run(`get-${word}`)).stdout).toBe(`otel ${word} is not set.\n`)
  expect((await run(`set-${word}`, value)).stdout).toBe(`otel ${word} is now ${shown}.\n`)
  expect((await run(`get-${word}`)).stdout).toBe(`otel ${word}: ${shown}\n`)
  expect((await run(`unset-${word}`)).stdout).toBe(`otel ${word} is not set any more.\n`)
  expect(JSON.parse(await readFile(join(user.home, '.config/keelson/config.json'), 'utf8'))).toEqual({})
})
