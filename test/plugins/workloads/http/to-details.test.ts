import { expect, test } from 'vitest'
import { toDetails } from '../../../../plugins/workloads/http/to-details.ts'
import type { RunConfig } from '../../../../src/contracts/run-config.ts'

const config: RunConfig = {
  schema_version: 'v0.1.0',
  name: 'notes',
  transport: 'stdio',
  image: 'notes',
  port: 20_001,
}

test('the details have the line on isolation, where there is one', () => {
  expect(toDetails(config, [], { isolation: 'docker; reaches no host' })).toMatchObject({
    isolation: 'docker; reaches no host',
  })
  expect(toDetails(config, [])).not.toHaveProperty('isolation')
})
