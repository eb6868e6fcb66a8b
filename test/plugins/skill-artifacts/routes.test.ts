import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startApi } from '../../support/api-server.ts'
import { startDockerRegistry } from '../../support/docker-registry.ts'
import { ociClient } from '../oci/oci-client.ts'

const source = new URL('../../../fixtures/skills/csv-report', import.meta.url).pathname
const skills = '/api/v1beta/skills'

test('a skill is validated, built, listed, pushed and removed', async () => {
  const [api, registry] = await Promise.all([startApi(), startDockerRegistry()])
  try {
    const tag = `${registry.host}/api/csv-report:1`
    expect((await api.ask('POST', `${skills}/validate`, { path: source })).json()).toEqual({ valid: true })
    expect((await api.ask('POST', `${skills}/build`, { path: source })).json()).toEqual({
      reference: 'csv-report',
    })
    expect((await api.ask('POST', `${skills}/build`, { path: source, tag })).json()).toEqual({
      reference: tag,
    })
    const { builds } = (await api.ask('GET', `${skills}/builds`)).json() as { builds: { tag: string }[] }
    expect(builds.map(build => build.tag)).toEqual([tag, 'csv-report'])
    expect((await api.ask('POST', `${skills}/push`, { reference: tag, no_sign: true })).status).toBe(204)
    expect((await ociClient().manifest(tag)).kind).toBe('index')
    expect((await api.ask('DELETE', `${skills}/builds/${encodeURIComponent(tag)}`)).status).toBe(204)
    expect((await api.ask('DELETE', `${skills}/builds/csv-report`)).status).toBe(204)
    expect((await api.ask('GET', `${skills}/builds`)).json()).toEqual({ builds: [] })
    expect([...api.succeeded].sort()).toEqual([
      'buildSkill',
      'deleteSkillBuild',
      'listSkillBuilds',
      'pushSkill',
      'validateSkill',
    ])
  } finally {
    await registry.stop()
  }
})

test('what is wrong has its status', async () => {
  const api = await startApi()
  const { home } = api.user
  await mkdir(join(home, 'bad'))
  await mkdir(join(home, 'linked'))
  await writeFile(join(home, 'bad/SKILL.md'), '---\nname: Bad\n---\n')
  await symlink('/etc/hostname', join(home, 'linked/SKILL.md'))
  await api.ask('POST', `${skills}/build`, { path: source })
  await api.ask('POST', `${skills}/build`, { path: source, tag: '127.0.0.1:1/csv-report:1' })

  const cases: readonly (readonly [number, string, string, unknown?])[] = [
    [400, 'POST', 'validate', '{'],
    [400, 'POST', 'validate', {}],
    [400, 'POST', 'validate', { path: '' }],
    [400, 'POST', 'validate', { path: 'skills/a' }],
    [400, 'POST', 'validate', { path: '/tmp/../etc' }],
    [400, 'POST', 'validate', { path: '/tmp/a\0b' }],
    [400, 'POST', 'validate', { path: 7 }],
    [200, 'POST', 'validate', { path: join(home, 'linked') }],
    [200, 'POST', 'validate', { path: join(home, 'bad') }],
    [200, 'POST', 'validate', { path: join(home, 'nothing') }],
    [400, 'POST', 'build', { path: 'relative' }],
    [400, 'POST', 'build', { path: join(home, 'nothing') }],
    [400, 'POST', 'build', { path: join(home, 'bad') }],
    [400, 'POST', 'build', { path: source, tag: 'a/b:c' }],
    [404, 'DELETE', 'builds/nothing'],
    [400, 'POST', 'push', { reference: 'csv-report' }],
    [400, 'POST', 'push', { reference: 'csv-report', no_sign: true }],
    [400, 'POST', 'push', { reference: 'csv-report', no_sign: true, key: '/k' }],
    [404, 'POST', 'push', { reference: 'ghcr.io/a/b:1', no_sign: true }],
    [404, 'POST', 'push', { no_sign: true }],
    [502, 'POST', 'push', { reference: '127.0.0.1:1/csv-report:1', no_sign: true }],
  ]
  for (const [status, method, path, body] of cases) {
    const answer = await api.ask(method, `${skills}/${path}`, body)
    expect(answer.status, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`).toBe(status)
  }
})
