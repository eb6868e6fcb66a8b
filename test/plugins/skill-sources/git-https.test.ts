import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { proxyTo } from './connect-proxy.ts'
import { gitRepository } from './git-repository.ts'
import { gitServer } from './git-server.ts'
import { SKILL, skillSources } from './skill-sources.ts'

const HOST = 'git.example.com'

/** A git host over TLS under a public name, which a proxy leads to, with a certificate of its own. */
async function secured() {
  const root = await temporaryFolder()
  const [key, cert] = [join(root, 'key.pem'), join(root, 'cert.pem')]
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const command = ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', cert]
  execFileSync('openssl', command, { stdio: 'ignore' })
  const repository = await gitRepository(root)
  const commit = await repository.commit({ 'SKILL.md': SKILL })
  const server = await gitServer(root, {
    tls: { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') },
  })
  const { via, asked } = await proxyTo(`https://${server.host}`)
  return {
    commit,
    server,
    cert,
    asked,
    env: { HTTPS_PROXY: via.href, GIT_TOKEN: 'a-token', GIT_TOKEN_HOSTS: HOST },
  }
}

test.each(['git', 'https', 'http'])(
  'a repository is fetched over https, through a proxy, from %s://',
  async scheme => {
    const { commit, server, cert, asked, env } = await secured()
    const sources = await skillSources({ env: { ...env, GIT_SSL_CAINFO: cert } })
    expect((await sources.get(`${scheme}://${HOST}/acme/skills`)).digest).toBe(commit)
    expect(new Set(asked.map(({ target }) => target))).toEqual(new Set([`${HOST}:443`]))
    const token = `Basic ${Buffer.from('x-access-token:a-token').toString('base64')}`
    expect(new Set(server.asked.map(({ authorization }) => authorization))).toEqual(new Set([token]))
  },
)

test('a host whose certificate nobody vouches for gets no token, and is 502', async () => {
  const { server, env } = await secured()
  const sources = await skillSources({ env })
  await expect(sources.get(`git://${HOST}/acme/skills`)).rejects.toMatchObject({
    code: 'skill_source_failed',
    message: expect.stringMatching(/certificate/),
  })
  expect(server.asked).toEqual([])
  expect(await sources.left()).toEqual([])
})
