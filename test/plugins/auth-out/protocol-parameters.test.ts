import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROTOCOL_PARAMETERS } from '../../../plugins/auth-out/oauth/protocol-parameters.ts'
import { authOutSection } from '../../../plugins/auth-out/section.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { keelsonUser } from '../../support/keelson.ts'

const CONFIG = {
  schema_version: 'v0.1.0',
  name: 'far',
  remote_url: 'http://127.0.0.1:9/mcp',
  transport: 'streamable-http',
  port: 0,
} as const

const check = (remote_auth_config: NonNullable<RunConfig['remote_auth_config']>) => () =>
  authOutSection.check?.({ ...CONFIG, remote_auth_config })

test.each(PROTOCOL_PARAMETERS)('the parameter %s of a login cannot be set', name => {
  const problem = `The parameter "${name}" of a login belongs to the protocol`

  expect(check({ scope_param_name: name })).toThrow(problem)
  expect(check({ oauth_params: { audience: 'x', [name]: 'x' } })).toThrow(problem)
})

test('other parameters can be set', () => {
  expect(check({ scope_param_name: 'user_scope', oauth_params: { audience: 'x', scope: 'y' } })).not.toThrow()
})

test('flag and run config with such a parameter are refused before anything is asked', async () => {
  const user = await keelsonUser()
  const file = join(user.home, 'far.json')
  await writeFile(file, JSON.stringify({ ...CONFIG, remote_auth_config: { oauth_params: { request: 'x' } } }))

  const byFlag = await user.run(['run', CONFIG.remote_url, '--remote-auth-scope-param-name', 'request_uri'])
  const byFile = await user.run(['run', '--from-config', file])

  expect([byFlag.code, byFlag.stdout, byFile.code, byFile.stdout]).toEqual([2, '', 2, ''])
  expect(byFlag.stderr).toContain('"request_uri"')
  expect(byFile.stderr).toContain('"request"')
})
