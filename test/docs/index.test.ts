import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')]
const read = (file: string) => readFileSync(file, 'utf8')
const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')

/** Links to files of the project, without the part from `#` on. */
const linksOf = (file: string): string[] =>
  [...withoutCode(read(file)).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, to = '']) =>
    join(dirname(file), to),
  )

test.each(pages)('every link of %s leads to a file', page => {
  expect(linksOf(page).filter(file => !existsSync(file))).toEqual([])
})

test('docs/README.md leads to every page', () => {
  const reached = new Set([...linksOf('docs/README.md'), ...linksOf('docs/decisions/README.md')])
  const others = globSync('docs/**/*.md').filter(file => !file.endsWith('README.md'))
  expect(others.length).toBeGreaterThan(10)
  expect(others.filter(file => !reached.has(file))).toEqual([])
})

/** Files of the sources that a text names in backticks: from the root, or from the folder that it describes. */
const sourcesIn = (text: string): string[] =>
  [...text.matchAll(/`([\w./-]+\.(?:ts|js|cjs|py|sh)|(?:src|plugins|test|scripts|bench)\/[^`<>\s]+)`/g)].map(
    ([, file = '']) => file,
  )

test('docs/map.md names files that exist', () => {
  const files = sourcesIn(read('docs/map.md')).filter(file => file.includes('/'))
  expect(files.length).toBeGreaterThan(20)
  expect(files.filter(file => !existsSync(file))).toEqual([])
})

test('READMEs of plugins name files of theirs', () => {
  const named = globSync('plugins/*/README.md').flatMap(page =>
    sourcesIn(read(page)).map(file => ({ page, file })),
  )
  expect(named.length).toBeGreaterThan(10)
  const exists = ({ page, file }: { page: string; file: string }) =>
    existsSync(file) ||
    existsSync(join(dirname(page), file)) ||
    globSync(join(dirname(page), '**', file)).length
  expect(named.filter(one => !exists(one))).toEqual([])
})

test('every plugin says in a README what it does', () => {
  const plugins = globSync('plugins/*/index.ts').map(dirname)
  expect(plugins.filter(folder => !existsSync(join(folder, 'README.md')))).toEqual([])
})
