import { globSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { guideCommands, looksLike } from '../support/guide-commands.ts'
import { main } from '../support/main.ts'
import { openHome } from './home.ts'

// Every command of the README and of every guide is run, in order, in a new home folder, and shows what the guide says.
const repository = new URL('../..', import.meta.url).pathname

const pages = ['README.md', ...globSync('docs/guides/*.md', { cwd: repository }).sort()]

describe.each(pages)('%s', page => {
  test('its commands work, and show what it says', { timeout: 600_000 }, async () => {
    const commands = guideCommands(join(repository, page))
    const home = await openHome({ KEELSON_RUNTIME: 'process', KEELSON_SECRETS_PASSWORD: 'of the test' })
    try {
      const program = `#!/bin/sh\nexec "${process.execPath}" -- "${main}" "$@"\n`
      await writeFile(join(home.path, 'keelson'), program, { mode: 0o755 })
      const PATH = [home.path, dirname(process.execPath), home.env.PATH].join(delimiter)
      for (const { line, shown, code } of commands) {
        const result = await execa('sh', ['-c', line], {
          cwd: home.path,
          env: { ...home.env, PATH },
          extendEnv: false,
          stdin: 'ignore',
          reject: false,
          timeout: 300_000,
        })
        expect([line, result.exitCode], result.stderr).toEqual([line, code])
        if (shown) expect(looksLike(shown, result.stdout), `${line}\n${result.stdout}`).toBe(true)
      }
    } finally {
      await home.close()
    }
  })
})
