import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testHome } from '../auth-out/guarded-server.ts'

const ARN = 'arn:aws:iam::123456789012:role/reader'
const login = { oidc_config: { issuer: 'https://login.example', audience: 'aws' } }

test.each([
  ['without a login of callers', { fallback_role_arn: ARN }, {}, 'its callers do not log in'],
  [
    'with an expression that is none',
    { role_mappings: [{ matcher: '"a" in', role_arn: ARN }] },
    login,
    'The matcher "\\"a\\" in" of aws_sts_config cannot be used',
  ],
])('a run config %s is refused before anything starts', async (_, aws, more, problem) => {
  const home = await testHome({ secrets: false })
  const config = {
    ...{ schema_version: 'v0.1.0', name: 'far', port: 0, transport: 'streamable-http' },
    remote_url: 'https://far.example/mcp',
    aws_sts_config: { region: 'eu-west-1', ...aws },
    ...more,
  }
  await writeFile(join(home.path, 'far.json'), JSON.stringify(config))

  const shown = await home.keelson(['run', '--from-config', 'far.json'])

  expect([shown.code, shown.stderr]).toEqual([2, expect.stringContaining(problem)])
})
