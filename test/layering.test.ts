import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { checkLayering, importsOf } from '../scripts/layering.ts'

/** A tree of sources, padded to the size below which the check distrusts itself. */
function tree(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'layering-'))
  const padding = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`src/pad${i}.ts`, '']))
  for (const [path, text] of Object.entries({ ...padding, ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

test('the project keeps the direction of its dependencies', () => {
  expect(checkLayering()).toEqual([])
})

test('imports of every form are seen', () => {
  const source = [
    "import a from './a.ts'",
    "import type { B,\n C } from './b.ts'",
    "export { d } from './d.ts'",
    "export * from './e.ts'",
    "import './f.ts'",
    "const g = await import('./g.ts')",
    "declare module './h.ts' {}",
  ].join('\n')
  expect(importsOf(source)).toEqual(['a', 'b', 'd', 'e', 'f', 'g', 'h'].map(name => `./${name}.ts`))
})

test.each([
  ['src/x.ts', "import '../plugins/a/index.ts'", 'the core imports'],
  ['src/lib/x.ts', "import '../errors.ts'", 'src/lib/ imports'],
  ['src/net/x.ts', "import '../errors.ts'", 'src/net/ imports'],
  ['plugins/a/x.ts', "import '../b/index.ts'", 'does not need'],
  ['plugins/a/x.ts', "import '../c/inside.ts'", 'instead of its index.ts'],
])('%s may not say %s', (file, source, problem) => {
  const root = tree({ 'plugins/a/index.ts': "needs: ['c']", [file]: source })
  expect(checkLayering(root)).toEqual([expect.stringContaining(problem)])
})

test('two folders of one plugin may not import each other', () => {
  const one = { 'plugins/a/b/x.ts': "import '../c/x.ts'" }
  const other = { 'plugins/a/c/x.ts': "import '../b/x.ts'" }
  expect(checkLayering(tree({ ...one, 'plugins/a/c/x.ts': '' }))).toEqual([])
  expect(checkLayering(tree({ ...one, ...other }))).toEqual([
    expect.stringContaining('plugins/a/b and plugins/a/c import each other'),
  ])
})

test('a plugin may import the index of one it needs', () => {
  const root = tree({ 'plugins/a/index.ts': "needs: ['c']", 'plugins/a/x.ts': "import '../c/index.ts'" })
  expect(checkLayering(root)).toEqual([])
})

/** Three plugins: each offers the service of its name. */
const LIST = ['a', 'b', 'c'].map(name => `{ name: '${name}', services: ['${name}'], load: 0 }`).join(',\n')

test.each([
  ['a call that is not declared', { 'plugins/a/x.ts': "app.service('b')" }, 'which a does not declare'],
  ['a call over two lines', { 'plugins/a/x.ts': "this.app\n  .service('b')" }, 'which a does not declare'],
  ['a call in the core', { 'src/x.ts': "app.service('b')" }, 'the core calls the service b'],
  ['an unused declaration', { 'plugins/a/index.ts': "uses: ['b']" }, 'which it does not call'],
  ['a declaration of nothing', { 'plugins/a/index.ts': "wants: ['d']" }, 'which no plugin offers'],
  [
    'a look for what is required',
    { 'plugins/a/index.ts': "uses: ['b']", 'plugins/a/x.ts': "app.find('b')" },
    'which a requires',
  ],
  [
    'a circle of services and imports',
    {
      'plugins/a/index.ts': "uses: ['b'],",
      'plugins/a/x.ts': "app.service('b')",
      'plugins/b/index.ts': "needs: ['c'],",
      'plugins/c/index.ts': "uses: ['a'],",
      'plugins/c/x.ts': "app.service('a')",
    },
    'a → b → c → a',
  ],
])('%s is a violation', (_, files: Record<string, string>, problem) => {
  const manifests = Object.fromEntries(['a', 'b', 'c'].map(name => [`plugins/${name}/index.ts`, '']))
  const root = tree({ 'plugins/index.ts': LIST, ...manifests, ...files })
  expect(checkLayering(root)).toEqual([expect.stringContaining(problem)])
})

test('declared services may be called, optional ones in a circle too, and comments do not count', () => {
  const root = tree({
    'plugins/index.ts': LIST,
    'plugins/a/index.ts': "uses: ['b'],",
    'plugins/a/x.ts': "app.service('b')\napp.service('a')\n// app.service('c')\n * app.service('c')",
    'plugins/b/index.ts': "wants: ['a'],",
    'plugins/b/x.ts': "app.find('a')\napp.service('a')",
  })
  expect(checkLayering(root)).toEqual([])
})
