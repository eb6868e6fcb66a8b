import { expect, test, vi } from 'vitest'
import { engineProblem } from '../../support/engine-problem.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { needs } from '../../support/left-out.ts'

// Each starts the program, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

test.each([
  ['filesystm', 'filesystem'],
  ['githb', 'github'],
  ['memroy', 'memory'],
  ['io.github.stacklok/fetsh', 'fetch'],
])('%s could be an image; when there is none, %s is suggested', async (word, near) => {
  const user = await keelsonUser()

  const shown = await user.run(['run', word, '--runtime', 'process'])

  expect(shown).toMatchObject({ code: 1, stdout: '' })
  expect(shown.stderr).toContain(`Did you mean ${near}`)
})

test("when docker cannot pull an image, near names are suggested beside docker's message", {
  timeout: 120_000,
}, async context => {
  needs(context, engineProblem('docker', 'keelson-test/busybox:1'))
  const user = await keelsonUser()

  const shown = await user.run(['run', 'filesystm', '--runtime', 'docker'])

  expect(shown).toMatchObject({ code: 1, stdout: '' })
  expect(shown.stderr).toContain('docker could not pull "filesystm"')
  expect(shown.stderr).toContain('Did you mean filesystem')
})

test.each(['example.com/filesystm:1', 'mcp/filesystm', 'zzzqqqxxx'])(
  'for %s nothing is suggested',
  async word => {
    const user = await keelsonUser()

    const shown = await user.run(['run', word, '--runtime', 'process'])

    expect(shown.code).toBe(1)
    expect(shown.stderr).not.toContain('Did you mean')
  },
)
