import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { execa } from 'execa'
import { create } from 'tar'
import { expect, onTestFinished, test } from 'vitest'
import { engineProblem } from '../../support/engine-problem.ts'
import { type KeelsonUser, userWithSecrets } from '../../support/keelson.ts'
import { needs } from '../../support/left-out.ts'

const docker = async (...args: string[]) => (await execa('docker', args)).stdout

/** This host as containers on the default bridge see it; a new engine does not state it as the gateway. */
async function bridgeAddress(): Promise<string> {
  const { stdout } = await execa('ip', ['-4', '-json', 'address', 'show', 'docker0']) // also while it is down
  return JSON.parse(stdout)[0].addr_info[0].local
}

/** A package registry that builds reach and that answers only who brings the right `authorization`. */
async function guardedPackages(
  authorization: string,
  answer: (path: string, base: string) => { type: string; body: Buffer | string } | undefined,
) {
  const host = await bridgeAddress()
  const refused: string[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    if (request.headers.authorization !== authorization) {
      refused.push(path)
      return response.writeHead(401, { 'www-authenticate': 'Basic realm="packages"' }).end()
    }
    const found = answer(path, base)
    if (!found) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': found.type }).end(found.body)
  })
  server.listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = `${host}:${(server.address() as AddressInfo).port}`
  const base = `http://${address}`
  return { host, address, base, refused }
}

function imageOf(): string {
  const image = `keelson.local/test-auth:${randomBytes(4).toString('hex')}`
  onTestFinished(async () => void (await execa('docker', ['image', 'rm', '-f', image], { reject: false })))
  return image
}

/** No stage of a build on this host has a file with the text in it. */
async function expectNoStageHolds(file: string, text: string): Promise<void> {
  const ids = (await docker('image', 'ls', '--all', '--quiet', '--filter=label=keelson-build')).split('\n')
  for (const id of new Set(ids.filter(Boolean))) {
    const args = ['run', '--rm', '--network=none', '--entrypoint=/bin/cat', id, `/keelson/${file}`]
    const { stdout } = await execa('docker', args, { reject: false }) // another test's may go meanwhile
    expect(stdout).not.toContain(text)
  }
}

/** Neither the image nor its history nor its configuration holds the text, nor a file that could. */
async function expectNowhereIn(image: string, text: string): Promise<void> {
  const inside = (script: string) =>
    docker('run', '--rm', '--network=none', '--user=0', '--entrypoint=/bin/sh', image, '-c', script)
  const dirs = '--exclude-dir=proc --exclude-dir=sys --exclude-dir=dev'
  expect(await inside(`grep -rlF ${text} / ${dirs}; true`)).toBe('')
  expect(await inside(`ls -A /root /keelson 2>/dev/null; true`)).not.toMatch(/npmrc|netrc/)
  expect(await docker('history', '--no-trunc', image)).not.toContain(text)
  expect(await docker('image', 'inspect', image)).not.toContain(text)
}

test('npm installs from a registry that wants the login of the npmrc, which is not in the image', {
  timeout: 240_000,
}, async context => {
  needs(context, engineProblem('docker', 'keelson-test/node:24'))
  const user = await userWithSecrets()
  const token = `npm-token-${randomBytes(8).toString('hex')}`
  const folder = join(user.home, 'package')
  await mkdir(folder)
  const manifest = { name: 'guarded-probe', version: '1.2.3', bin: 'probe.js' }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  await writeFile(join(folder, 'probe.js'), '#!/usr/bin/env node\nconsole.log("installed")\n')
  const archive = join(user.home, 'probe.tgz')
  await create({ gzip: true, file: archive, cwd: user.home }, ['package'])
  const tarball = await readFile(archive)
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
  const packages = await guardedPackages(`Bearer ${token}`, (path, base) => {
    if (path.endsWith('.tgz')) return { type: 'application/octet-stream', body: tarball }
    if (path !== '/guarded-probe') return undefined
    const dist = { tarball: `${base}/guarded-probe-1.2.3.tgz`, integrity }
    const versions = { '1.2.3': { ...manifest, dist } }
    const body = JSON.stringify({ name: 'guarded-probe', 'dist-tags': { latest: '1.2.3' }, versions })
    return { type: 'application/json', body }
  })
  const npmrc = `registry=${packages.base}/\n//${packages.address}/:_authToken=${token}\n`
  expect(await user.run(['config', 'set-build-auth-file', 'npmrc'], { input: npmrc })).toMatchObject({
    code: 0,
    stderr: '',
  })
  const image = imageOf()

  const shown = await user.run([
    'build',
    'npx://guarded-probe@1.2.3',
    '--runtime=docker',
    '--runtime-image=keelson-test/node:24',
    `--tag=${image}`,
  ])

  expect(shown).toMatchObject({ code: 0, stdout: `${image}\n` })
  expect(packages.refused).toEqual([])
  expect(await docker('run', '--rm', '--network=none', image)).toBe('installed')
  expect(shown.stderr).not.toContain(token)
  await expectNowhereIn(image, token)
  await expectNoStageHolds('build-auth-npmrc', token)
})

test('pip installs from an index that wants the login of the netrc, which is not in the image', {
  timeout: 240_000,
}, async context => {
  needs(context, engineProblem('docker', 'keelson-test/python:3'))
  const user = await userWithSecrets()
  const password = `pip-password-${randomBytes(8).toString('hex')}`
  const wheel = await wheelOf(user)
  const basic = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`
  const packages = await guardedPackages(basic, path => {
    if (path.endsWith('.whl')) return { type: 'application/octet-stream', body: wheel }
    if (path !== '/simple/guarded-probe/') return undefined
    const name = 'guarded_probe-1.2.3-py3-none-any.whl'
    return { type: 'text/html', body: `<a href="/${name}">${name}</a>` }
  })
  const netrc = `machine ${packages.host}\nlogin ada\npassword ${password}\n`
  for (const [args, input] of [
    [['config', 'set-build-auth-file', 'netrc'], netrc],
    [['config', 'set-build-env', 'PIP_INDEX_URL', `${packages.base}/simple/`], ''],
    [['config', 'set-build-env', 'PIP_TRUSTED_HOST', packages.host], ''],
  ] as const) {
    expect(await user.run(args, { input })).toMatchObject({ code: 0, stderr: '' })
  }
  const image = imageOf()

  const shown = await user.run([
    'build',
    'uvx://guarded-probe==1.2.3',
    '--runtime=docker',
    '--runtime-image=keelson-test/python:3',
    `--tag=${image}`,
  ])

  expect(shown).toMatchObject({ code: 0, stdout: `${image}\n` })
  expect(await docker('run', '--rm', '--network=none', image)).toBe('installed')
  expect(shown.stderr).not.toContain(password)
  await expectNowhereIn(image, password)
  await expectNoStageHolds('build-auth-netrc', password)
})

/** A wheel (PyPA binary distribution format) with one program. */
async function wheelOf(user: KeelsonUser): Promise<Buffer> {
  const script = `
import zipfile
info = 'guarded_probe-1.2.3.dist-info/'
with zipfile.ZipFile('probe.whl', 'w') as wheel:
    wheel.writestr('guarded_probe.py', 'def main():\\n    print("installed")\\n')
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: guarded-probe\\nVersion: 1.2.3\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'entry_points.txt', '[console_scripts]\\nguarded-probe = guarded_probe:main\\n')
    wheel.writestr(info + 'RECORD', '')
`
  await execa('python3', ['-c', script], { cwd: user.home })
  return readFile(join(user.home, 'probe.whl'))
}
