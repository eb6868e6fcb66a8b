import { createHash, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import { engineProblem } from '../../support/engine-problem.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { needs } from '../../support/left-out.ts'

const BASE = 'keelson-test/node:24'
const VALUES = { literal: 'literal-7c1e9f', secret: 'secret-93ab0d', shell: 'shell-52f8aa' }

/** An npm that shows what it sees, keeps a hash of it, installs a package of its own, and writes a value down if it is told to. */
const NPM = `#!/bin/sh
echo "npm sees $GREETING, $TOKEN, $FROM_SHELL"
echo '{"packages":{"node_modules/probe":{"version":"1.0.0"}}}' >package-lock.json
place=$PWD/node_modules/probe
mkdir -p $place
echo "$GREETING $TOKEN $FROM_SHELL" | sha256sum | cut -c-64 >$place/seen
echo "$NODE_EXTRA_CA_CERTS" >$place/trusted
echo '{"name":"probe","version":"1.0.0","bin":"probe.js"}' >$place/package.json
printf '#!/usr/bin/env node\\nconsole.log(JSON.stringify(process.env))\\n' >$place/probe.js
test -z "$WRITE_DOWN" || echo "$TOKEN" >$place/notes
`

/** A user with variables of all three kinds in the settings, and an image whose npm is the one above. */
async function userWithVariables(context: TestContext) {
  needs(context, engineProblem('docker', BASE))
  const user = await keelsonUser()
  const tag = randomBytes(4).toString('hex')
  const images = { base: `keelson.local/test-base:${tag}`, built: `keelson.local/test-built:${tag}` }
  onTestFinished(async () => {
    await execa('docker', ['image', 'rm', '-f', ...Object.values(images)], { reject: false })
  })
  const folder = join(user.home, 'base')
  await mkdir(folder)
  // The tag makes every image new: an engine that has built the same before would not run npm again.
  await writeFile(join(folder, 'npm'), `${NPM}# ${tag}\n`, { mode: 0o755 })
  await writeFile(
    join(folder, 'Dockerfile'),
    `FROM ${BASE}\nCOPY npm /usr/local/bin/npm-probe\nRUN mv /usr/local/bin/npm-probe /usr/local/bin/npm\n`,
  )
  await execa('docker', ['build', '-t', images.base, folder])

  const env = {
    KEELSON_SECRETS_PROVIDER: 'environment',
    'KEELSON_SECRET_npm-token': VALUES.secret,
    FROM_SHELL: VALUES.shell,
  }
  const config = async (...args: string[]) =>
    expect(await user.run(['config', ...args], { env })).toMatchObject({ code: 0, stderr: '' })
  await config('set-build-env', 'GREETING', VALUES.literal)
  await config('set-build-env', '--from-secret', 'TOKEN', 'npm-token')
  await config('set-build-env', '--from-env', 'FROM_SHELL')
  const build = () =>
    user.run(
      [
        'build',
        'npx://probe@1.0.0',
        '--runtime=docker',
        `--runtime-image=${images.base}`,
        `--tag=${images.built}`,
      ],
      { env },
    )
  return { user, config, build, image: images.built }
}

test('variables of the settings reach the install and nothing of the image', {
  timeout: 120_000,
}, async context => {
  const { build, config, image } = await userWithVariables(context)
  await config('set-ca-cert', '/etc/ssl/certs/ca-certificates.crt')

  const shown = await build()

  expect(shown).toMatchObject({ code: 0, stdout: `${image}\n` })
  const docker = async (...args: string[]) => (await execa('docker', args)).stdout
  const { literal, secret, shell } = VALUES
  const place = '/app/node_modules/probe'
  const cat = ['run', '--rm', '--entrypoint=/bin/cat', image, `${place}/seen`, `${place}/trusted`]
  expect((await docker(...cat)).split('\n')).toEqual([
    createHash('sha256').update(`${literal} ${secret} ${shell}\n`).digest('hex'),
    '/usr/local/share/ca-certificates/keelson-ca.crt',
  ])
  const look = `grep -rlFe literal-7c1e9f -e secret-93ab0d -e shell-52f8aa / --exclude-dir=proc --exclude-dir=sys --exclude-dir=dev; true`
  const inside = ['run', '--rm', '--network=none', '--user=0', '--entrypoint=/bin/sh', image, '-c', look]
  expect(await docker(...inside)).toBe('')
  const told = [
    await docker('history', '--no-trunc', image),
    await docker('image', 'inspect', image),
    await docker('run', '--rm', '--network=none', image),
  ].join('\n')
  expect(told).toContain('/app/mcp-server')
  for (const value of Object.values(VALUES)) expect(told).not.toContain(value)
  expect(told).not.toContain('build-env')
})

test('a package that writes a secret of the build down is not built', { timeout: 120_000 }, async context => {
  const { build, config, image } = await userWithVariables(context)
  await config('set-build-env', 'WRITE_DOWN', 'yes')

  const shown = await build()

  expect(shown).toMatchObject({ code: 1, stdout: '' })
  expect(shown.stderr).toContain('The package wrote a secret of the build into its files.')
  expect(shown.stderr).toContain(`npm sees ${VALUES.literal}, [redacted], ${VALUES.shell}`)
  expect(shown.stderr).not.toContain(VALUES.secret)
  expect((await execa('docker', ['image', 'inspect', image], { reject: false })).exitCode).toBe(1)
})
