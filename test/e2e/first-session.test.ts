import { readFileSync, writeFileSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { main } from '../support/main.ts'
import { at80Columns } from './first-session/at-terminal.ts'
import { CHAPTERS } from './first-session/chapters.ts'
import { toPage, toShape } from './first-session/page.ts'
import { openHome } from './home.ts'

const PAGE = new URL('../../docs/guides/first-session.md', import.meta.url)
const STATE = process.env.KEELSON_TEST_STATE ?? '/var/tmp/keelson-test'

test('a new user gets from the first command to the last as the page shows', {
  timeout: 900_000,
}, async () => {
  const home = await openHome({
    KEELSON_RUNTIME: 'process',
    LANG: 'C.UTF-8',
    npm_config_cache: join(STATE, 'npm'),
    npm_config_progress: 'false',
    npm_config_update_notifier: 'false',
  })
  onTestFinished(() => home.close())
  const program = join(home.path, 'keelson')
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" -- "${main}" "$@"\n`)
  await chmod(program, 0o755)
  const PATH = [home.path, dirname(process.execPath), home.env.PATH].join(delimiter)
  const screens: string[][] = []
  for (const { commands } of CHAPTERS) {
    const shown: string[] = []
    for (const { line, answers, code = 0 } of commands) {
      const env = { ...home.env, PATH, TERM: 'xterm' }
      const found = await at80Columns(line, { cwd: home.path, env, ...(answers ? { answers } : {}) })
      expect([line, found.code], found.screen).toEqual([line, code])
      const screen = found.screen.replaceAll(home.path, '~')
      expect(found.screen).not.toContain('not-a-key')
      shown.push(`$ ${line}\n${screen}${screen === '' || screen.endsWith('\n') ? '' : '\n'}`)
    }
    screens.push(shown)
  }
  const page = toPage(CHAPTERS, screens)
  if (process.env.KEELSON_WRITE_SESSION) writeFileSync(PAGE, page)
  expect(toShape(page)).toEqual(toShape(readFileSync(PAGE, 'utf8')))
})
