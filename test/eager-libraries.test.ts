import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkEagerLibraries } from '../scripts/eager-libraries.ts'

function tree(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'keelson-eager-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

test('a library that the entry of a plugin reaches by static imports is found', () => {
  const root = tree({
    'plugins/a/index.ts': "import {\n  one,\n} from './one.ts'\n",
    'plugins/a/one.ts': "import { readFileSync } from 'node:fs'\nexport * from '../../src/two.ts'\n",
    'src/two.ts': "import 'heavy'\nimport { three } from '../plugins/a/index.ts'\n",
  })
  expect(checkEagerLibraries(root)).toEqual([
    'plugins/a/index.ts loads heavy at once, by src/two.ts: use import() where it is needed',
  ])
})

test('types, and what is imported where it is needed, are no such library', () => {
  const root = tree({
    'plugins/a/index.ts':
      "import type { A } from 'heavy'\nexport type { B } from './b.ts'\nimport { c } from './c.ts'\n",
    'plugins/a/b.ts': "import 'heavy'\n",
    'plugins/a/c.ts': "export const load = async () => (await import('heavy')).default\n",
  })
  expect(checkEagerLibraries(root)).toEqual([])
})
