import { strToU8, zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { containsHome } from '../../../plugins/runtime-process/packages/interpreter.ts'
import { scriptNames, wheelProblem } from '../../../plugins/runtime-process/packages/wheel.ts'

const wheel = (files: Record<string, string>) =>
  zipSync(Object.fromEntries(Object.entries(files).map(([path, text]) => [path, strToU8(text)])))

const metadata = (...lines: string[]) => ({
  'x-1.dist-info/METADATA': ['Name: x', ...lines, '', 'a@b', ''].join('\n'),
})

test('a wheel that needs others by name is installed', () => {
  const bytes = wheel({
    ...metadata('Requires-Dist: mcp[cli]>=1.0 ; python_version >= "3.10"'),
    'x-1.dist-info/entry_points.txt': '[console_scripts]\nx = x:main\n',
    'x/__init__.py': '',
  })
  expect(wheelProblem('x.whl', bytes)).toBeUndefined()
})

test.each(['y @ https://host/y.tar.gz', 'y@file:///etc/y', 'y[z] @ git+https://host/y ; extra == "z"'])(
  'the requirement "%s" is refused',
  requirement => {
    expect(wheelProblem('x.whl', wheel(metadata(`Requires-Dist: ${requirement}`)))).toMatch(/needs "y/)
  },
)

test.each(['../up', '/up', 'a/../../up', 'a\\..\\up', '..', ''])('the program "%s" is refused', name => {
  const bytes = wheel({
    ...metadata(),
    'x-1.dist-info/entry_points.txt': `[console_scripts]\n${name}= x:main\n`,
  })
  expect(wheelProblem('x.whl', bytes)).toMatch(/which is a path/)
})

test.each(['../up', '/up', 'x-1.data/scripts/../../up'])('the member "%s" is refused', path => {
  expect(wheelProblem('x.whl', wheel({ ...metadata(), [path]: '' }))).toMatch(/outside the package/)
})

test('programs are those of both kinds of scripts, and of nothing else', () => {
  const text = '# c\n[console_scripts]\na = m:f\n b=m:f [extra]\n\n[other]\nc = m:f\n[gui_scripts]\nd: m:f\n'
  expect(scriptNames(text)).toEqual(['a', 'b', 'd'])
})

test('a folder holds the home when the home is it or lies in it', () => {
  for (const prefix of ['/', '/home', '/home/u', '/home/u/', ''])
    expect(containsHome(prefix, '/home/u')).toBe(true)
  for (const prefix of ['/usr', '/home/u/.pyenv', '/home/u2', '/hom'])
    expect(containsHome(prefix, '/home/u')).toBe(false)
})
