import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientV1, textOf } from '../e2e/clients.ts'
import { type Home, openHome, until } from '../e2e/home.ts'
import { needsPlace } from '../e2e/places-to-run.ts'
import { plantPackage, STRANGER } from '../support/hostile/plant-package.ts'
import { reachingServer } from '../support/hostile/reaching-server.ts'
import { publish } from '../support/hostile/registry.ts'

// A server changes the folders that it may write, so that its next start gives it more than this one did.

const program = new URL('../../fixtures/hostile/sandbox/', import.meta.url).pathname
const SECRET = 'the secret of the user'

let home: Home
beforeAll(async () => {
  home = await openHome()
  await plantPackage(home.path)
})
afterAll(() => home?.close(), 120_000)

test('an entry is not given a folder within one that its server may change', async () => {
  const folder = join(home.path, 'asked')
  await mkdir(join(folder, 'sub'), { recursive: true })
  const permissions = { write: [`${folder}:/p`], read: [`${folder}/sub:/s`] }
  await publish(home.path, 'older file', { nested: { ...reachingServer('true'), permissions } })

  const shown = await home.keelson(['run', 'nested', '--runtime', 'process', '--accept-permissions'])

  expect(shown).toMatchObject({ code: 1, stdout: '' })
  expect(shown.stderr).toContain(`read "${folder}/sub": it lies in "${folder}", which the server may change`)
})

describe.each(['docker', 'process'] as const)('on %s', { timeout: 240_000 }, place => {
  const run = (name: string, folders: readonly string[]) =>
    home.ok([
      ...['run', '--name', name, '--runtime', place, '--transport', 'stdio', '--isolate-network=false'],
      ...folders.flatMap(folder => ['-v', folder]),
      ...(place === 'process'
        ? [STRANGER]
        : [
            '-v',
            `${program}:/program:ro`,
            'keelson-test/node:24',
            '--',
            'node',
            '/program/shell-server.mjs',
          ]),
    ])
  const call = async (url: string, script: string) => {
    const client = await clientV1(url)
    return textOf(await client.callTool({ name: 'shell', arguments: { script } }))
  }
  const status = async (name: string) => JSON.parse(await home.ok(['status', name, '--format', 'json']))
  /** Ends the server from inside. */
  const crash = (url: string) => call(url, 'kill -9 $PPID').catch(() => undefined)
  /** What the server says once it has been brought back. */
  const callAgain = (url: string, script: string) => until(() => call(url, script))

  test('a mounted folder that the server made a link ends it instead of showing where it leads', async context => {
    needsPlace(context, place)
    const [folder, own] = [join(home.path, `links-${place}`), join(home.path, `private-${place}`)]
    await mkdir(join(folder, 'sub'), { recursive: true })
    await mkdir(own)
    await writeFile(join(own, 'file'), SECRET)
    const name = `hostile-links-${place}`
    const url = await run(name, [`${folder}:/p`, `${folder}/sub:/s:ro`])

    expect(await call(url, `rmdir /p/sub && ln -s ${own} /p/sub`)).toContain('ended: 0')
    await crash(url)

    const shown = await until(async () => {
      const found = await status(name)
      expect(found.status).toBe('error')
      return JSON.stringify(found)
    })
    expect(shown).toContain(`leads through the link ${folder}/sub`)
    const started = await home.keelson(['start', name])
    expect(started.code).not.toBe(0)
    expect(started.stderr).toContain(`leads through the link ${folder}/sub`)
    expect((await status(name)).status).toBe('error')
    await home.ok(['rm', name])
  })

  test('the rules of an ignore file cannot be changed from inside, nor be undone by another', async context => {
    needsPlace(context, place)
    const folder = join(home.path, `rules-${place}`)
    await mkdir(join(folder, 'sub/vault'), { recursive: true })
    for (const file of ['.env', 'global', 'sub/vault/key']) await writeFile(join(folder, file), SECRET)
    const rules = '.env\nvault/\n'
    await writeFile(join(folder, '.keelsonignore'), rules)
    await mkdir(join(home.path, '.config/keelson'), { recursive: true })
    await writeFile(join(home.path, '.config/keelson/ignore'), 'global\n')
    const name = `hostile-rules-${place}`
    const url = await run(name, [`${folder}:/data`])
    const attack = [
      'cd /data; cat .keelsonignore; echo > .keelsonignore; rm -f .keelsonignore; mv .keelsonignore away',
      'echo x > new; mv new .keelsonignore; ln -sf new .keelsonignore',
      'umount .keelsonignore; printf "!.env\\n!global\\n" > .thvignore; mv sub moved',
    ]
    const look = 'cd /data; cat .env global sub/vault/key moved/vault/key; ls -a'

    expect(await call(url, attack.join('; '))).not.toContain('vault/\n')
    expect(await readFile(join(folder, '.keelsonignore'), 'utf8')).toBe(rules)
    await crash(url)
    const said = [await callAgain(url, look)]
    await home.ok(['stop', name])
    await home.ok(['start', name])
    said.push(await callAgain(url, look))

    for (const text of said) {
      expect(text).toContain('moved')
      expect(text).not.toContain(SECRET)
    }
    expect(await readFile(join(folder, 'moved/vault/key'), 'utf8')).toBe(SECRET)
    await home.ok(['rm', name])
  })

  test('an ignore file that the server made a link keeps it from starting', async context => {
    needsPlace(context, place)
    const folder = join(home.path, `made-${place}`)
    await mkdir(folder)
    const name = `hostile-made-${place}`
    const url = await run(name, [`${folder}:/data`])

    await call(url, 'ln -s /etc/passwd /data/.keelsonignore')
    await home.ok(['stop', name])

    const started = await home.keelson(['start', name])
    expect(started.code).not.toBe(0)
    expect(started.stderr).toContain(`${folder}/.keelsonignore is a link, or not a file`)
    await home.ok(['rm', name])
  })
})
