import { expect, test } from 'vitest'
import { keelsonUser } from '../../support/keelson.ts'

test('a list of tools that names none is refused, so that an empty variable shows no tool', async () => {
  const user = await keelsonUser()
  for (const flag of ['--tools', '--tools-deny']) {
    const { code, stderr } = await user.run(['run', 'http://127.0.0.1:9/mcp', '--name', 'x', flag, ' ,'])
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${flag} names no tool`)])
  }
})
