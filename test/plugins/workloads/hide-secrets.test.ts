import { expect, test } from 'vitest'
import { hideSecrets } from '../../../plugins/workloads/hide-secrets.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'

const config = (members: Partial<RunConfig>): RunConfig => ({
  schema_version: 'v0.1.0',
  name: 'notes',
  transport: 'stdio',
  port: 1,
  ...members,
})

const argumentsOf = (...args: string[]) => hideSecrets(config({ cmd_args: args })).cmd_args

test('arguments whose option, variable or header is secret by its name are hidden', () => {
  expect(argumentsOf('--api-key=s3', '--token', 's3', '-e', 'DB_PASS=s3', '--header=X-Auth: s3')).toEqual([
    '--api-key=[redacted]',
    '--token',
    '[redacted]',
    '-e',
    'DB_PASS=[redacted]',
    '--header=X-Auth: [redacted]',
  ])
  const shown = [
    '--port=80',
    '--verbose',
    '--token',
    '--stdio',
    'https://a.example/',
    '/data',
    '--max-tokens=',
  ]
  expect(argumentsOf(...shown)).toEqual(shown)
})

test('variables whose names say so, and all plain headers, are hidden', () => {
  const env_vars = { GITHUB_PAT: 's3', SIGNING_KEY: 's3', AUTH_TOKENS: 's3', LOG_LEVEL: 'debug' }
  const header_forward = { add_plaintext_headers: { 'X-Team': 's3' } }
  expect(hideSecrets(config({ env_vars, header_forward }))).toMatchObject({
    env_vars: {
      GITHUB_PAT: '[redacted]',
      SIGNING_KEY: '[redacted]',
      AUTH_TOKENS: '[redacted]',
      LOG_LEVEL: 'debug',
    },
    header_forward: { add_plaintext_headers: { 'X-Team': '[redacted]' } },
  })
})

test('keys in the URL of a server are hidden', () => {
  const remote_url = 'https://a.example/mcp?api=s3'
  expect(hideSecrets(config({ remote_url })).remote_url).toBe('https://a.example/mcp?api=***')
})

test('the query of a remote URL is hidden, also in what was asked to be run', () => {
  const url = 'https://example.com/mcp?api=s3'
  const shown = 'https://example.com/mcp?api=***'
  expect(hideSecrets(config({ source: url, remote_url: url }))).toMatchObject({
    source: shown,
    remote_url: shown,
  })
})
