import { expect, test } from 'vitest'
import { startApi } from '../../../support/api-server.ts'
import { keelsonUser } from '../../../support/keelson.ts'
import { startTinyMcp } from '../../../support/tiny-mcp.ts'
import { deny, makeWalled } from '../../../support/walled-workload.ts'

const path = '/api/v1beta/workloads'

test('denials say how the profile would be widened, and only public destinations can be allowed', async () => {
  const user = await keelsonUser()
  await makeWalled(user, { name: 'walled', outbound: { allow_host: ['b.example.com'], allow_port: [80] } })
  const hosts = ['api.example.com', '10.0.0.6', '[::1]', 'printer.lan', 'localhost', 'host.docker.internal']
  for (const host of hosts) await deny(user, 'walled', host)
  const api = await startApi({ user })

  const { denials } = (await api.ask('GET', `${path}/walled/denials`)).json() as {
    denials: { host: string; widened?: object }[]
  }
  expect(denials.map(({ host }) => host)).toEqual(hosts.toReversed())
  const widened = { allow_host: ['b.example.com', 'api.example.com'], allow_port: [80, 443] }
  expect(denials.filter(one => one.widened)).toEqual([
    expect.objectContaining({ host: 'api.example.com', port: 443, widened }),
  ])

  const allow = (host: string, port = 443) => api.ask('POST', `${path}/walled/denials/allow`, { host, port })
  for (const host of hosts.slice(1)) expect((await allow(host)).status, host).toBe(409)
  const allowed = await allow('api.example.com')
  expect([allowed.status, allowed.text]).toEqual([200, expect.stringContaining('api.example.com')])
  const details = (await api.ask('GET', `${path}/walled`)).json() as { permission_profile: object }
  expect(details.permission_profile).toMatchObject({ network: { outbound: widened } })
  expect((await allow('api.example.com')).status).toBe(409)
  const after = (await api.ask('GET', `${path}/walled/denials`)).json() as { denials: { widened?: object }[] }
  expect(after.denials.filter(one => one.widened)).toEqual([])
})

test('a workload that is not isolated has nothing to allow, and an unknown one is not found', async () => {
  const api = await startApi()
  await api.ask('POST', path, { name: 'far', url: await startTinyMcp() })
  await api.untilStatus('far', 'running')
  await deny(api.user, 'far', 'api.example.com')
  const destination = { host: 'api.example.com', port: 443 }

  expect((await api.ask('POST', `${path}/far/denials/allow`, destination)).status).toBe(409)
  expect((await api.ask('POST', `${path}/nobody/denials/allow`, destination)).status).toBe(404)
  expect(
    (await api.ask('POST', `${path}/far/denials/allow`, { host: 'a.example.com', port: 0 })).status,
  ).toBe(400)
  expect((await api.ask('GET', `${path}/nobody/denials`)).status).toBe(404)
})
