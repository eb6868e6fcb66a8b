import { expect, test } from 'vitest'
import { type ApiServer, startApi } from '../../support/api-server.ts'
import { startTinyMcp } from '../../support/tiny-mcp.ts'
import { everything, scripted } from './servers.ts'

const path = '/api/v1beta/workloads'

async function startWith(name: string, url: string): Promise<ApiServer> {
  const api = await startApi()
  await api.ask('POST', path, { name, url })
  await api.untilStatus(name, 'running')
  return api
}

test('resources and their templates are listed and read as the server writes them', async () => {
  const api = await startWith('all', await everything('streamableHttp'))

  const offers = (await api.ask('GET', `${path}/all/resources`)).json() as {
    resources: { uri: string; mimeType?: string }[]
    templates: { uriTemplate: string }[]
  }
  expect(offers.resources.length).toBeGreaterThan(0)
  expect(offers.templates).toContainEqual(
    expect.objectContaining({ uriTemplate: 'demo://resource/dynamic/text/{resourceId}' }),
  )

  const uri = 'demo://resource/dynamic/blob/2'
  const read = await api.ask('POST', `${path}/all/resources/read`, { uri })
  expect(read.json()).toEqual({ contents: [expect.objectContaining({ uri, blob: expect.any(String) })] })

  const missing = await api.ask('POST', `${path}/all/resources/read`, { uri: 'demo://none\n' })
  expect([missing.status, missing.text]).toEqual([502, expect.stringContaining('"demo://none\\n"')])
})

test('prompts are listed, and their messages are those for the arguments', async () => {
  const api = await startWith('all', await everything('streamableHttp'))

  const { prompts } = (await api.ask('GET', `${path}/all/prompts`)).json() as { prompts: { name: string }[] }
  expect(prompts.map(({ name }) => name)).toContain('args-prompt')

  const body = { name: 'args-prompt', arguments: { city: 'Bern' } }
  const answer = (await api.ask('POST', `${path}/all/prompts/get`, body)).json() as { messages: unknown[] }
  expect(answer.messages).toEqual([
    { role: 'user', content: { type: 'text', text: expect.stringContaining('Bern') } },
  ])
  expect((await api.ask('POST', `${path}/all/prompts/get`, { name: 'args-prompt' })).status).toBe(502)
  expect((await api.ask('POST', `${path}/all/prompts/get`, { arguments: {} })).status).toBe(400)
})

test('a server without resources and prompts has empty lists, one without templates has resources', async () => {
  const api = await startWith('tiny', await startTinyMcp())
  const url = await scripted({ 'resources/list': () => ({ resources: [{ uri: 'a:b', name: 'b' }] }) })
  await api.ask('POST', path, { name: 'plain', url: `${url}/mcp` })
  await api.untilStatus('plain', 'running')

  expect((await api.ask('GET', `${path}/tiny/resources`)).json()).toEqual({ resources: [], templates: [] })
  expect((await api.ask('GET', `${path}/tiny/prompts`)).json()).toEqual({ prompts: [] })
  expect((await api.ask('GET', `${path}/plain/resources`)).json()).toEqual({
    resources: [{ uri: 'a:b', name: 'b' }],
    templates: [],
  })
})

test('a workload that is unknown or stopped is refused with that reason', async () => {
  const api = await startWith('tiny', await startTinyMcp())
  await api.ask('POST', `${path}/tiny/stop`)
  await api.untilStatus('tiny', 'stopped')

  for (const [method, rest, body] of [
    ['GET', 'resources', undefined],
    ['POST', 'resources/read', { uri: 'a:b' }],
    ['GET', 'prompts', undefined],
    ['POST', 'prompts/get', { name: 'a' }],
  ] as const) {
    expect((await api.ask(method, `${path}/tiny/${rest}`, body)).status).toBe(409)
    expect((await api.ask(method, `${path}/nobody/${rest}`, body)).status).toBe(404)
  }
})
