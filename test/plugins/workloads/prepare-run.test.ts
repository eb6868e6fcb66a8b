import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import { keelsonUser } from '../../support/keelson.ts'

test('a workload cannot take the name that the server of another has since its upgrade', async () => {
  const user = await keelsonUser()
  const upgraded = {
    schema_version: 'v0.1.0',
    name: 'search',
    container_name: 'search-1f2e',
    image: 'example/search',
    transport: 'stdio',
    port: 4000,
  }
  const state = join(user.home, '.local/state/keelson')
  await writeFileAtomic(join(state, 'runconfigs/search.json'), JSON.stringify(upgraded))

  const shown = await user.run(['run', 'http://127.0.0.1:9/mcp', '--name', 'search-1f2e'])

  expect(shown).toMatchObject({ code: 1, stdout: '' })
  expect(shown.stderr).toContain('The server of the workload "search" is called "search-1f2e".')
})
