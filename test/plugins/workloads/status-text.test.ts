import { expect, test } from 'vitest'
import { startedText } from '../../../plugins/workloads/status-text.ts'
import type { Workload } from '../../../src/contracts/workload.ts'

const started = (more: Partial<Workload>) =>
  startedText({ name: 'figma', status: 'running', transport_type: 'stdio', ...more } as Workload, Date.now())

test('a server that responds is running', () => {
  expect(started({})).toBe('figma is running. Clients connect to:')
})

test('a stdio server that is silent has started, with what to look at and what to try', () => {
  const text = started({ status_context: 'The server has not responded within 15 seconds.' })
  expect(text).not.toContain('is running')
  expect(text).toBe(
    'figma has started. The server has not responded within 15 seconds. `keelson logs figma` shows what it printed. ' +
      'Some packages speak on standard input and output only when told to, e.g. with `-- --stdio`.\n' +
      'Clients connect to:',
  )
})

test('a server that is not well is named with its state and the reason', () => {
  const sick = { status: 'unhealthy', status_context: 'it does not accept connections' } as const
  expect(started(sick)).toBe('figma is unhealthy: it does not accept connections\nClients connect to:')
})
