import { describe, expect, test } from 'vitest'
import { normaliseArgv, splitGlobals, type WrittenFlag } from '../../../src/cli/argv.ts'
import { flag } from '../../../src/cli/flags.ts'

const table = {
  env: flag.list('a variable', 'KEY=VALUE', { short: 'e' }),
  name: flag.string('a name'),
  foreground: flag.boolean('stay', { short: 'f' }),
  proxy: flag.boolean('the proxy', { short: 'p' }),
  'isolate-network': flag.boolean('isolate', { fallback: true }),
}
const known = { table, hints: { d: 'Omit the flag.', detach: 'Omit the flag.' }, passthrough: true }
const globals = () => ({ debug: false, help: false, plugins: true, verbose: false })
const args = (...argv: string[]) => {
  const { words, flags } = normaliseArgv(argv, known, globals())
  return [...words, ...flags.map(toLongForm)]
}
const toLongForm = ([name, value]: WrittenFlag) =>
  typeof value === 'string' ? `--${name}=${value}` : `--${value ? '' : 'no-'}${name}`

describe('booleans', () => {
  test.each([
    ['--foreground', '--foreground'],
    ['--foreground=true', '--foreground'],
    ['--foreground=1', '--foreground'],
    ['--foreground=false', '--no-foreground'],
    ['--foreground=F', '--no-foreground'],
    ['--no-foreground', '--no-foreground'],
    ['--no-foreground=false', '--foreground'],
    ['--isolate-network=false', '--no-isolate-network'],
    ['-f', '--foreground'],
    ['-f=false', '--no-foreground'],
  ])('%s is read as %s', (written, read) => {
    expect(args(written)).toEqual([read])
  })

  test('the names of the flags are known, also of those that are switched off or given in short', () => {
    const normal = normaliseArgv(
      ['x', '--name=no-a=b', '--foreground=false', '-e', 'A=1', '--', '--other'],
      known,
      globals(),
    )
    expect(normal.flags.map(([name]) => name)).toEqual(['name', 'foreground', 'env'])
  })

  test('short ones may stand together', () => {
    expect(args('-fp')).toEqual(['--foreground', '--proxy'])
  })

  test('a value that is neither true nor false is refused, naming the flag', () => {
    expect(() => args('--foreground=maybe')).toThrow('--foreground takes true or false, not "maybe"')
  })
})

describe('values', () => {
  test.each([
    [['-eX=1'], ['--env=X=1']],
    [['-e', 'X=1'], ['--env=X=1']],
    [['-e=X=1'], ['--env=X=1']],
    [['--env', 'X=1'], ['--env=X=1']],
    [['--env=X=1'], ['--env=X=1']],
    [['--name', '-dash'], ['--name=-dash']],
    [['--name', '--x'], ['--name=--x']],
    [['--name='], ['--name=']],
    [
      ['-fe', 'A=1'],
      ['--foreground', '--env=A=1'],
    ],
  ])('%j is read as %j', (written, read) => {
    expect(args(...written)).toEqual(read)
  })

  test('a missing value is refused, naming the flag', () => {
    expect(() => args('--name')).toThrow('--name needs a value')
  })
})

test('everything behind -- is passed through as it is', () => {
  const normal = normaliseArgv(['server', '--name', 'n', '--', '--env', '-e', '--'], known, globals())
  expect(normal).toMatchObject({
    words: ['server'],
    flags: [['name', 'n']],
    passthrough: ['--env', '-e', '--'],
    dashes: true,
  })
})

test('a lone dash is an argument', () => {
  expect(args('-')).toEqual(['-'])
})

test('an unknown flag is refused, with the nearest there is', () => {
  expect(() => args('--nmae', 'x')).toThrow('There is no flag --nmae here.')
  try {
    args('--nmae')
  } catch (error) {
    expect(error).toMatchObject({ code: 'usage', exit: 2, hint: 'Did you mean --name?' })
  }
})

test.each([['-d'], ['--detach'], ['-fd'], ['--detach=true']])(
  '%s of another program gets the hint for it',
  written => {
    expect(() => args(written)).toThrow(expect.objectContaining({ hint: 'Omit the flag.' }))
  },
)

test.each([['--toString'], ['--constructor=1'], ['--__proto__=1'], ['-x']])('%s is unknown too', written => {
  expect(() => args(written)).toThrow('There is no flag')
})

test('global flags are taken wherever they stand before --', () => {
  const found = globals()
  expect(normaliseArgv(['a', '--debug', '--no-plugins', 'b'], known, found)).toMatchObject({
    words: ['a', 'b'],
    flags: [],
  })
  expect(found).toEqual({ debug: true, help: false, plugins: false, verbose: false })
})

test('global flags in front of the verb are split off', () => {
  expect(splitGlobals(['--debug', '-h', 'run', '--debug'])).toEqual({
    globals: { debug: true, help: true, plugins: true, verbose: false },
    rest: ['run', '--debug'],
  })
})
