import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { netrcFor } from '../../../src/lib/netrc.ts'
import { readNpmSettings } from '../../../src/lib/npm-settings.ts'
import { PUBLIC_PYPI } from '../../../src/lib/public-registries.ts'
import { readPypiSettings } from '../../../src/lib/pypi-settings.ts'
import { toolEnvironment } from '../../../src/lib/tool-environment.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A home with these files; answers the environment of its user. */
async function homeWith(files: Record<string, string>): Promise<{ HOME: string }> {
  const home = await temporaryFolder()
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, path)), { recursive: true })
    await writeFile(join(home, path), text)
  }
  return { HOME: home }
}

test('of an npmrc only the registries, the logins for them and the way there are taken', async () => {
  const env = await homeWith({
    '.npmrc': [
      'registry = https://npm.example/base/',
      '@corp:registry="http://10.0.0.5:4873/"',
      `//npm.example/base/:_authToken=\${TOKEN}`,
      '//elsewhere.example/:_authToken=not-needed',
      'script-shell=/tmp/evil',
      'ignore-scripts=false',
      'cafile=/ca.pem',
    ].join('\n'),
  })
  const settings = await readNpmSettings({ ...env, TOKEN: 'secret' })
  expect(settings.registries).toEqual(['https://npm.example/base/', 'http://10.0.0.5:4873/'])
  expect(settings.npmrc).toContain('//npm.example/base/:_authToken="secret"')
  expect(settings.npmrc).not.toMatch(/elsewhere|script/)
  expect(settings).toMatchObject({ files: ['/ca.pem'], proxied: false })
})

test('variables win over the npmrc, and a proxy is noticed', async () => {
  const env = await homeWith({
    '.npmrc': 'registry=https://npm.example/\nhttps-proxy=http://proxy.example:8080\n',
  })
  const settings = await readNpmSettings({ ...env, NPM_CONFIG_REGISTRY: 'https://other.example/' })
  expect(settings.registries).toEqual(['https://other.example/'])
  expect(settings.proxied).toBe(true)
})

test('of a netrc only the entries of the hosts are taken', async () => {
  const env = await homeWith({
    '.netrc':
      'machine pypi.example login me password one\nmachine other.example\n  login me\n  password two\ndefault login x password y\n',
  })
  expect(await netrcFor(['pypi.example'], env)).toBe('machine pypi.example login me password one\n')
})

test("pip has its own indexes, uv its own, and each the other's where it has none", async () => {
  const pip = {
    '.config/pip/pip.conf':
      '[global]\nindex-url = https://pip.example/simple\nextra-index-url =\n  https://more.example/simple\n',
  }
  const uv = {
    '.config/uv/uv.toml': '[[index]]\nname = "corp"\nurl = "https://uv.example/simple"\ndefault = true\n',
  }
  const both = await homeWith({ ...pip, ...uv })
  expect((await readPypiSettings(both, 'pip')).indexes).toEqual([
    'https://pip.example/simple',
    'https://more.example/simple',
  ])
  expect(await readPypiSettings(both, 'uv')).toMatchObject({
    indexes: ['https://uv.example/simple'],
    env: { UV_DEFAULT_INDEX: 'corp=https://uv.example/simple' },
  })
  expect((await readPypiSettings(await homeWith(pip), 'uv')).indexes[0]).toBe('https://pip.example/simple')
  expect((await readPypiSettings(await homeWith({}), 'pip')).indexes).toEqual([PUBLIC_PYPI])
})

test('a tool gets what any program needs and what is its own', () => {
  const env = {
    PATH: '/bin',
    GITHUB_TOKEN: 'x',
    KEELSON_SECRETS_PASSWORD: 'x',
    LD_PRELOAD: '/evil.so',
    NODE_OPTIONS: '--require=/evil.js',
    GOPROXY: 'https://proxy.example',
    GOFLAGS: '-toolexec=/evil',
    PYTHONPATH: '/evil',
  }
  expect(toolEnvironment(env)).toEqual({ PATH: '/bin' })
  expect(toolEnvironment(env, 'go')).toEqual({ PATH: '/bin', GOPROXY: 'https://proxy.example' })
})
