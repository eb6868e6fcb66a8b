import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { startTinyMcp } from '../../support/tiny-mcp.ts'

const path = '/api/v1beta/workloads'
const ROUNDS = 5

/** Edits of one member each. What an edit does not mention stays, so one may not take back another. */
const LIVE = [{ tools: ['*'] }, { tools_deny: ['secret_*'] }, { tools_read_only: true }] as const
const RESTARTING = { debug: true } as const
const NONE = { tools: [], tools_deny: [], tools_read_only: false, debug: false }

test.each([
  ['live edits', LIVE],
  ['an edit that restarts and live ones', [RESTARTING, ...LIVE]],
] as const)(
  '%s at once: each is made and stays, or is refused with 409',
  async (_what, changes) => {
    const api = await startApi()
    const url = await startTinyMcp()
    expect((await api.ask('POST', path, { name: 'a', url })).status).toBe(201)
    await api.untilStatus('a', 'running')
    const edit = (change: object) => api.ask('POST', `${path}/a/edit`, { url, ...change })
    const read = async (what: string) => (await api.ask('GET', `${path}/${what}`)).json() as object

    for (let round = 0; round < ROUNDS; round++) {
      expect((await edit(NONE)).status).toBe(200)
      const answers = await Promise.all(changes.map(edit))
      const failed = answers.filter(({ status }) => status !== 200 && status !== 409)
      expect(failed.map(({ text }) => text)).toEqual([])
      const made = changes.filter((_, i) => answers[i]?.status === 200)
      expect(made).not.toEqual([])
      const stored = { ...(await read('a/export')), ...(await read('a')) }
      for (const change of made) expect(stored).toMatchObject(change)
    }
  },
  120_000,
)
