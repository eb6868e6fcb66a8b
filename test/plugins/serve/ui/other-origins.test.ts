import { expect, test } from 'vitest'
import { visit } from '../../../support/browser.ts'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { serve } from '../../mcp/servers.ts'
import { makeRemote, startUi } from './open-page.ts'

test('a page of another origin can neither read nor change anything, nor show this one in a frame', {
  timeout: 120_000,
}, async context => {
  const api = await startUi()
  await makeRemote(api, 'mine', await startTinyMcp())
  const elsewhere = await serve((_, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>'),
  )
  const { page } = await visit(context, elsewhere)
  const attempts = `(async target => {
    const path = target + '/api/v1beta/workloads'
    const body = JSON.stringify({ name: 'forged', url: 'http://127.0.0.1:9/mcp' })
    const outcomes = []
    for (const [url, options] of [
      [path, {}],
      [path, { method: 'POST', body }],
      [path, { method: 'POST', body, mode: 'no-cors' }],
      [path + '/mine', { method: 'DELETE' }],
      [path + '/delete', { method: 'POST', body: '{"names":["mine"]}', mode: 'no-cors' }],
      [path + '/mine/stop', { method: 'POST', mode: 'no-cors' }],
      [target + '/', {}],
    ]) outcomes.push(await fetch(url, options).then(answer => answer.type, () => 'refused'))
    const form = document.createElement('form')
    Object.assign(form, { method: 'post', action: path + '/mine/stop', enctype: 'text/plain', target: 'sink' })
    const frame = Object.assign(document.createElement('iframe'), { name: 'sink' })
    document.body.append(form, frame)
    const loaded = new Promise(resolve => frame.addEventListener('load', resolve))
    form.submit()
    await loaded
    return outcomes
  })`
  const outcomes = await page.evaluate<string[]>(`${attempts}(${JSON.stringify(api.url)})`)

  expect(outcomes.filter(type => type === 'basic' || type === 'cors')).toEqual([])
  const listed = (await api.ask('GET', '/api/v1beta/workloads?all=true')).json() as { workloads: object[] }
  expect(listed.workloads).toMatchObject([{ name: 'mine', status: 'running' }])

  await page.evaluate(`new Promise(resolve => {
    const frame = Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(`${api.url}/`)} })
    frame.addEventListener('load', resolve)
    document.body.append(frame)
  })`)
  const texts = await Promise.all(page.frames().map(frame => frame.locator('body').textContent()))
  expect(texts.join()).not.toContain('Run a server')
})
