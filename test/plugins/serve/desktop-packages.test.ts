import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { needsPlace } from '../../e2e/places-to-run.ts'
import { shareToolCaches } from '../../e2e/tool-caches.ts'
import { startApi } from '../../support/api-server.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { needs } from '../../support/left-out.ts'

// What a form for packages of a desktop application sends. The process runtime installs them sooner than
// an image is built.

const folder = new URL('../../../fixtures/desktop-requests/', import.meta.url)
const GO_SERVER = new URL('../../../fixtures/answers-initialize', import.meta.url).pathname

test.for([
  ['package-npm', 'npm', '--version'],
  ['package-pypi', 'python3', '--version'],
  ['package-go', 'go', 'version'],
] as const)(
  '%s: a package is installed, runs, and its details can be sent back',
  { timeout: 300_000 },
  async ([flow, tool, ask], context) => {
    needsPlace(context, 'process')
    needs(context, spawnSync(tool, [ask]).status === 0 ? undefined : `there is no ${tool}`)
    const text = await readFile(new URL(`${flow}.json`, folder), 'utf8')
    const { path, body } = JSON.parse(text.replace('$GO_SERVER', GO_SERVER))
    const user = await keelsonUser()
    user.env.KEELSON_RUNTIME = 'process'
    await shareToolCaches(user)
    const api = await startApi({ user })

    const made = await api.ask('POST', path, body)
    expect([made.status, made.text]).toEqual([201, expect.any(String)])
    const status = async () => (await api.ask('GET', `${path}/${flow}/status`)).json()
    await expect.poll(status, { timeout: 120_000 }).toMatchObject({ status: 'running' })
    const details = (await api.ask('GET', `${path}/${flow}`)).json() as object
    expect((await api.ask('POST', `${path}/${flow}/edit`, details)).status).toBe(200)
    expect((await api.ask('GET', `${path}/${flow}`)).json()).toEqual(details)
  },
)
