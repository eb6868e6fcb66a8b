import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keelsonUser } from '../support/keelson.ts'
import { needs } from '../support/left-out.ts'
import { main } from '../support/main.ts'

// How quickly a command starts depends on how much it loads. This counts files and not time.

const LIST_FILES = new URL('../../fixtures/list-files.cjs', import.meta.url).pathname
const LARGE = ['crypto', 'child_process', 'http', 'net', 'readline/promises', 'dns/promises'].map(
  name => `node:${name}`,
)

test.for<readonly [readonly string[], readonly string[]]>([
  [['version'], ['./program.js']],
  [['list'], ['./program.js', './workloads.js']],
  [
    ['__complete', '--', 'run', '--na'],
    ['./program.js', './run.js'],
  ],
  [
    ['run', '--help'],
    ['./program.js', './run.js'],
  ],
])('%j loads no library and only %j', async ([args, files], context) => {
  needs(context, main.endsWith('.js') ? undefined : 'the sources are run, not a build')
  const user = await keelsonUser()
  const list = join(user.home, 'files')
  const env = { NODE_OPTIONS: `--require ${LIST_FILES}`, LIST_FILES: list }

  expect(await user.run(args, { env })).toMatchObject({ code: 0, stderr: '' })

  const loaded = (await readFile(list, 'utf8')).split('\n')
  expect(loaded.filter(name => name.startsWith('.'))).toEqual(files)
  expect(loaded.filter(name => LARGE.includes(name))).toEqual([])
})

test('a run of an image loads nothing that checks signatures, and no client of HTTP', async context => {
  needs(context, main.endsWith('.js') ? undefined : 'the sources are run, not a build')
  const user = await keelsonUser()
  const list = join(user.home, 'files')
  // No engine is in the PATH, so the run ends when it has prepared all but that.
  const env = { NODE_OPTIONS: `--require ${LIST_FILES}`, LIST_FILES: list, PATH: user.home }

  expect(await user.run(['run', 'my/server:1', '--runtime', 'docker'], { env })).toMatchObject({ code: 1 })

  const loaded = (await readFile(list, 'utf8')).split('\n')
  expect(loaded.filter(name => name.startsWith('./libraries/')).sort()).toEqual([
    './libraries/execa.js',
    './libraries/typanion.js',
  ])
})
