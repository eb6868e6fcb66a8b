import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { keelsonUser } from '../../support/keelson.ts'
import { main } from '../../support/main.ts'
import { helloCode, writePlugin } from './plugin-folder.ts'

test('killed at any moment, `plugin add` leaves the old plugin or the new one, whole', async () => {
  const user = await keelsonUser()
  const filler = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`files/${i}.js`, `// ${i}`]))
  await writePlugin(join(user.home, 'p'), { code: helloCode('version 0'), files: filler })
  const started = performance.now()
  await user.run(['plugin', 'add', './p', '--yes'])
  const whole = performance.now() - started

  let before = 0
  for (let round = 1; round <= 12; round++) {
    await writePlugin(join(user.home, 'p'), { code: helloCode(`version ${round}`) })
    const child = execa(process.execPath, [main, 'plugin', 'add', './p', '--yes'], {
      cwd: user.home,
      env: user.env,
      extendEnv: false,
      reject: false,
    })
    await Promise.race([delay((whole * (round + 3)) / 15), child])
    child.kill('SIGKILL')
    await child

    const { stdout, stderr } = await user.run(['hello'])
    expect([`version ${before}\n`, `version ${round}\n`], stderr).toContain(stdout)
    if (stdout === `version ${round}\n`) before = round
  }

  expect(await user.run(['plugin', 'add', './p', '--yes'])).toMatchObject({ code: 0 })
  const left = await readdir(join(user.home, '.local/share/keelson/plugins'))
  // A writer that was killed leaves its temporary file, which goes when it is an hour old.
  expect(left.filter(entry => !entry.endsWith('.tmp'))).toHaveLength(2)
})

test('two that add at the same time both succeed', async () => {
  const user = await keelsonUser()
  await writePlugin(join(user.home, 'p'))
  await writePlugin(join(user.home, 'q'), { name: 'other', keelson: { verbs: {} } })

  const both = await Promise.all(['./p', './q'].map(path => user.run(['plugin', 'add', path, '--yes'])))

  expect(both.map(({ code }) => code)).toEqual([0, 0])
  const { stdout } = await user.run(['plugin', 'list', '--format', 'json'])
  expect(JSON.parse(stdout)).toMatchObject([
    { name: 'hello-plugin', state: 'ok' },
    { name: 'other', state: 'ok' },
  ])
})
