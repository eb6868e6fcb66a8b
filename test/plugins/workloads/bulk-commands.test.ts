import { expect, test } from 'vitest'
import { atTerminal } from '../../support/terminal.ts'
import { testHome } from '../auth-out/guarded-server.ts'
import { answering } from './answering-server.ts'

test('stop, start, restart and rm name what they did, and fail for a name that no workload has', {
  timeout: 120_000,
}, async () => {
  const home = await testHome({ secrets: false })
  await home.ok(['run', await answering(), '--name', 'notes', '--transport', 'streamable-http'])
  const startedAt = async () => {
    const [{ started_at: at }] = JSON.parse(await home.ok(['list', '--all', '--format', 'json']))
    return at as string
  }
  const first = await startedAt()

  expect(await home.keelson(['stop', 'note'])).toEqual({
    code: 1,
    stdout: '',
    stderr: `Error: There is no workload "note".\nDid you mean "notes"? \`keelson list --all\` shows the workloads there are.`,
  })
  expect(await home.keelson(['stop', 'note', '--ignore-missing'])).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  })
  expect(await home.ok(['restart', 'notes'])).toBe('notes: running')
  const second = await startedAt()
  expect(Date.parse(second)).toBeGreaterThan(Date.parse(first))
  expect(await home.ok(['start', 'notes'])).toBe('notes: running')
  expect(await startedAt()).toBe(second)
  const { screen } = await atTerminal({ cwd: home.path, env: home.env }, ['list'])
  expect(screen).toMatch(/^NAME +STATUS +URL +PACKAGE\nnotes +running \d+s +http/)
  expect(await home.ok(['list'])).toMatch(/^NAME +PACKAGE +STATUS +URL +PORT +GROUP +CREATED\nnotes /)
  expect(await home.ok(['stop', 'notes'])).toBe('notes: stopped')
  expect(JSON.parse(await home.ok(['export', 'notes']))).toMatchObject({ name: 'notes' })
  expect(await home.ok(['export', 'notes', '-'])).toBe(await home.ok(['export', 'notes']))

  const removed = await home.keelson(['rm', 'notes', 'nope'])
  expect(removed).toMatchObject({ code: 1, stdout: 'notes: removed' })
  expect(removed.stderr).toContain('nope: There is no workload "nope".')
})
