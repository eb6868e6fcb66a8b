import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { attachBundle } from '../plugins/image-verification/signed-image.ts'
import { serve } from '../plugins/mcp/servers.ts'
import { ociClient } from '../plugins/oci/oci-client.ts'
import { gitRepository } from '../plugins/skill-sources/git-repository.ts'
import { gitServer } from '../plugins/skill-sources/git-server.ts'
import { pushArtifact } from '../plugins/skill-sources/skill-artifact.ts'
import { skillFile } from '../plugins/skill-sources/skill-sources.ts'
import { startApi } from '../support/api-server.ts'
import { visit } from '../support/browser.ts'
import { startDockerRegistry } from '../support/docker-registry.ts'
import { daysAhead } from '../support/hostile/shifted-clock.ts'
import { type SkillUser, skillUser } from '../support/hostile/skill-user.ts'
import { GITHUB_ISSUER, testSigstore } from '../support/sigstore.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { atTerminal } from '../support/terminal.ts'

const SKILLS = '/api/v1beta/skills'

/** A git host that writes down what it is sent, with the skill `tidy` in its repository `acme/skills`. */
async function gitHost(files: Record<string, string> = { 'SKILL.md': skillFile('tidy') }) {
  const root = await temporaryFolder()
  const repository = await gitRepository(root)
  const commit = await repository.commit(files)
  const server = await gitServer(root)
  const sent = () => new Set(server.asked.map(({ authorization }) => authorization))
  return { ...server, repository, commit, sent, address: `git://${server.host}/acme/skills` }
}

/** A registry in a file, whose only skill lies in this repository. */
async function useRegistry(user: SkillUser, url: string): Promise<void> {
  const entry = {
    ...{ namespace: 'com.example', name: 'tidy', description: 'Tidies up', version: '1.0.0' },
    packages: [{ registryType: 'git', url }],
  }
  const document = {
    $schema:
      'https://raw.githubusercontent.com/stacklok/toolhive-core/main/registry/types/data/upstream-registry.schema.json',
    ...{ version: '1.0.0', meta: { last_updated: '2026-01-01T00:00:00Z' } },
    data: { servers: [], skills: [entry] },
  }
  await writeFile(join(user.home, 'registry.json'), JSON.stringify(document))
  const set = await user.run(['config', 'set-registry', join(user.home, 'registry.json')])
  expect(set, set.stderr).toMatchObject({ code: 0 })
}

const basic = (token: string) => `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
const installed = (user: SkillUser, root = user.project) =>
  existsSync(join(root, '.cursor/skills/tidy/SKILL.md'))

test('a page of another site cannot have the server fetch what it names, by no GET there is', {
  timeout: 180_000,
}, async context => {
  const host = await gitHost()
  const user = await skillUser({ KEELSON_PRIVATE_GIT_HOSTS: host.host })
  const api = await startApi({ user })
  const paths = Object.entries(api.document.paths).flatMap(([path, methods]) =>
    methods.get ? [describedUrl(path, methods.get, host.address)] : [],
  )
  expect(paths).toContain(`${SKILLS}/content?ref=${encodeURIComponent(host.address)}`)
  const elsewhere = await serve((_, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>'),
  )
  const { page } = await visit(context, elsewhere)

  await page.evaluate(`Promise.all(${JSON.stringify(paths.map(path => api.url + path))}.map(async url => {
    const picture = new Image()
    const ended = new Promise(resolve => { picture.onload = picture.onerror = resolve })
    picture.src = url
    const signal = AbortSignal.timeout(20_000)
    await Promise.race([ended, new Promise(resolve => signal.addEventListener('abort', resolve))])
    await fetch(url, { mode: 'no-cors', signal }).then(() => 'sent', () => 'refused')
    await fetch(url, { headers: { 'X-Keelson-Client': '1' }, signal }).then(() => 'sent', () => 'refused')
  }))`)
  expect(host.asked).toEqual([])

  // What an old browser sends, which says nothing of sites.
  const plain = await fetch(`${api.url}${SKILLS}/content?ref=${encodeURIComponent(host.address)}`)
  expect([plain.status, await plain.text()]).toEqual([403, expect.stringContaining('X-Keelson-Client')])
  expect(host.asked).toEqual([])

  expect((await api.ask('POST', `${SKILLS}/content`, { ref: host.address })).status).toBe(200)
  expect(host.asked).not.toEqual([])
})

function describedUrl(path: string, operation: object, reference: string): string {
  const { parameters = [] } = operation as { parameters?: { in: string; name: string }[] }
  const query = parameters.filter(one => one.in === 'query').map(one => [one.name, reference])
  const plain = path.replace(/\{\w+\}/g, encodeURIComponent(reference))
  return query.length ? `${plain}?${new URLSearchParams(query as [string, string][])}` : plain
}

test('a token goes to the host it is bound to, for what the user types, and for nothing that others name', {
  timeout: 180_000,
}, async () => {
  const needed = await gitHost({ 'SKILL.md': skillFile('needed') })
  const host = await gitHost()
  const needing = await gitHost({
    'SKILL.md': `---\nname: tidy\ndescription: Tidies up\ntoolhive.requires: ${needed.address}\n---\nx\n`,
  })
  const hosts = [host, needed, needing]
  const env = {
    KEELSON_PRIVATE_GIT_HOSTS: hosts.map(one => one.host).join(','),
    GIT_TOKEN: 'the-token',
    GIT_TOKEN_HOSTS: hosts.map(one => one.host).join(','),
  }
  const forget = () => hosts.forEach(one => void one.asked.splice(0))
  const ok = async (running: ReturnType<SkillUser['run']>) => {
    const shown = await running
    expect(shown, shown.stderr).toMatchObject({ code: 0 })
  }

  const user = await skillUser(env)
  await useRegistry(user, `https://${host.host}/acme/skills`)
  await ok(user.skill('install', 'tidy', '--allow-unsigned'))
  await ok(user.skill('content', 'com.example/tidy'))
  const api = await startApi({ user })
  const answer = await api.ask('POST', SKILLS, { name: 'com.example/tidy', allow_unsigned: true })
  expect(answer.status, answer.text).toBe(201)
  expect(host.sent()).toEqual(new Set([undefined]))

  forget()
  const other = await skillUser(env)
  await ok(other.skill('install', needing.address, '--allow-unsigned', '--scope', 'project'))
  expect(needing.sent()).toEqual(new Set([basic('the-token')]))
  expect(needed.sent()).toEqual(new Set([undefined]))

  forget()
  const cloner = await skillUser(env)
  await cp(join(other.project, 'keelson.lock.yaml'), join(cloner.project, 'keelson.lock.yaml'))
  await ok(cloner.skill('sync', '--yes', '--allow-unsigned'))
  await ok(cloner.skill('upgrade', '--check'))
  const served = await startApi({ user: cloner })
  const looked = await served.ask('POST', `${SKILLS}/upgrade`, {
    project_root: cloner.project,
    preview: true,
  })
  expect(looked.status, looked.text).toBe(200)
  expect([needing.sent(), needed.sent()]).toEqual([new Set([undefined]), new Set([undefined])])
})

test('a token is not sent to a host that nobody has bound it to, nor where a host redirects', {
  timeout: 120_000,
}, async () => {
  const [host, other] = [await gitHost(), await gitHost()]
  const hosts = { KEELSON_PRIVATE_GIT_HOSTS: `${host.host},${other.host}` }
  const unbound = await skillUser({ ...hosts, GIT_TOKEN: 'the-token' })
  expect(await unbound.skill('content', host.address)).toMatchObject({ code: 0 })
  expect(host.sent()).toEqual(new Set([undefined]))

  host.answer((request, response) => {
    response.writeHead(302, { location: `http://${other.host}${request.url}` }).end()
    return true
  })
  const bound = await skillUser({ ...hosts, GIT_TOKEN: 'the-token', GIT_TOKEN_HOSTS: host.host })
  expect(await bound.skill('content', host.address)).toMatchObject({ code: 1 })
  expect(host.sent()).toContain(basic('the-token'))
  expect(other.asked).toEqual([])

  host.answer((_, response) => Boolean(response.writeHead(401, { 'www-authenticate': 'Basic' }).end()))
  const told = await unbound.skill('content', host.address)
  expect(told.stderr).toContain(`name ${host.host} in GIT_TOKEN_HOSTS`)
})

/** A project that somebody else has locked to an unsigned skill, as it is cloned; and its newer version. */
async function clonedUnsigned() {
  const host = await gitHost()
  const env = { KEELSON_PRIVATE_GIT_HOSTS: host.host }
  const [stranger, user] = [await skillUser(env), await skillUser(env)]
  const made = await stranger.skill('install', host.address, '--allow-unsigned', '--scope', 'project')
  expect(made, made.stderr).toMatchObject({ code: 0 })
  const lock = join(user.project, 'keelson.lock.yaml')
  await cp(join(stranger.project, 'keelson.lock.yaml'), lock)
  expect(await readFile(lock, 'utf8')).toContain('unsigned: true')
  return { user, host }
}

test('a lock file cannot agree to an unsigned skill in the place of the user: CI and HTTP', {
  timeout: 180_000,
}, async () => {
  const { user, host } = await clonedUnsigned()

  const refused = await user.skill('sync', '--yes')
  expect([refused.code, refused.stdout]).toEqual([4, expect.stringContaining('unsigned-rejected')])
  const again = await user.skill('install', host.address, '--scope', 'project')
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('--allow-unsigned')])
  await host.repository.commit({ 'SKILL.md': skillFile('tidy', 'newer') })
  const upgrade = await user.skill('upgrade', '--yes')
  expect([upgrade.code, upgrade.stdout]).toEqual([4, expect.stringContaining('is not signed')])

  const api = await startApi({ user })
  const body = { project_root: user.project }
  const synced = (await api.ask('POST', `${SKILLS}/sync`, body)).json()
  expect(synced).toMatchObject({ failed: [{ name: 'tidy', reason: 'unsigned-rejected' }] })
  const upgraded = (await api.ask('POST', `${SKILLS}/upgrade`, body)).json()
  expect(upgraded).toMatchObject({ outcomes: [{ name: 'tidy', reason: 'unsigned-rejected' }] })
  expect(installed(user)).toBe(false)

  const allowed = (await api.ask('POST', `${SKILLS}/sync`, { ...body, allow_unsigned: true })).json()
  expect(allowed).toMatchObject({ installed: ['tidy'] })
  const newer = (await api.ask('POST', `${SKILLS}/upgrade`, body)).json()
  expect(newer).toMatchObject({ outcomes: [{ name: 'tidy', status: 'upgraded' }] })
})

test.for([
  ['n', 4, false],
  ['y', 0, true],
])(
  'on a terminal the user is asked about it, also with --yes: "%s"',
  {
    timeout: 120_000,
  },
  async ([typed, wanted, isThere]) => {
    const { user } = await clonedUnsigned()

    const at = { cwd: user.project, env: user.env }
    const { code, screen } = await atTerminal(at, ['skill', 'sync', '--yes'], [['[y/N]', `${typed}\r`]])

    expect(screen).toContain('Unsigned: tidy')
    expect([code, installed(user)]).toEqual([wanted, isThere])
  },
)

test('a trust root that could not be refreshed causes a warning, and later is not trusted any more', {
  timeout: 240_000,
}, async () => {
  const [registry, sigstore] = await Promise.all([startDockerRegistry(), testSigstore()])
  onTestFinished(registry.stop)
  const oci = ociClient()
  const reference = `${registry.host}/acme/tidy:1`
  const digest = await pushArtifact(oci, reference, { 'SKILL.md': skillFile('tidy') })
  const { bytes } = await oci.manifest(reference)
  const signer = { identity: 'https://github.com/acme/skills/.github/workflows/x.yml@refs/tags/v1' }
  const bundle = await sigstore.attest(digest, { ...signer, issuer: GITHUB_ISSUER })
  await attachBundle(oci, { reference, digest, manifest: bytes }, bundle)
  const user = await skillUser({
    KEELSON_INSECURE_REGISTRIES: registry.host,
    KEELSON_SIGSTORE_OFFLINE: '1',
  })
  const cache = join(user.home, '.cache/keelson/sigstore')
  await mkdir(cache, { recursive: true })
  const fetchedAt = Date.now()
  const kept = { triedAt: fetchedAt, succeeded: true, fetchedAt, root: sigstore.trustRoot }
  await writeFile(join(cache, 'tuf-repo-cdn.sigstore.dev.json'), JSON.stringify(kept))
  const after = (days: number, ...words: string[]) =>
    user.run(words, { cwd: user.project, env: daysAhead(days) })

  const plain = `${registry.host}/acme/plain:1`
  await pushArtifact(oci, plain, { 'SKILL.md': skillFile('plain') })
  expect(await after(183, 'skill', 'install', plain, '--allow-unsigned')).toMatchObject({ code: 0 })
  const old = await after(183, 'skill', 'install', reference, '--allow-unsigned')
  expect([old.code, old.stderr]).toEqual([1, expect.stringContaining('trust root is 183 days old')])
  expect(installed(user, user.home)).toBe(false)

  const server = { image: reference, transport: 'stdio', description: 'x', tools: ['x'] }
  const provenance = { signer_identity: signer.identity, cert_issuer: GITHUB_ISSUER }
  const entry = { ...server, status: 'Active', tier: 'Community', provenance }
  const document = { version: '1.0.0', last_updated: '2026-01-01T00:00:00Z', servers: { tidy: entry } }
  await writeFile(join(user.home, 'registry.json'), JSON.stringify(document))
  await user.run(['config', 'set-registry', join(user.home, 'registry.json')])
  const run = await after(183, 'run', 'tidy', '--image-verification', 'enabled')
  expect([run.code, run.stderr]).toEqual([1, expect.stringContaining('trust root is 183 days old')])

  const warned = await after(90, 'skill', 'install', reference)
  expect(warned, warned.stderr).toMatchObject({ code: 0 })
  expect(warned.stdout).toContain('signed by https://github.com/acme/skills/')
  expect(warned.stderr).toContain('trust root is 90 days old')
})
