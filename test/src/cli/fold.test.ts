import { PassThrough } from 'node:stream'
import { stripVTControlCharacters, styleText } from 'node:util'
import { expect, test } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { Run } from '../../../plugins/workloads/commands/run.ts'
import { fold } from '../../../src/cli/fold.ts'
import { commandHelp, programHelp } from '../../../src/cli/help.ts'
import { toTerminal } from '../../../src/cli/output.ts'
import { createProgress } from '../../../src/cli/progress.ts'

test('text is folded at words, with a hanging indent', () => {
  expect(fold('one two three four', { width: 9 })).toBe('one two\nthree\nfour')
  expect(fold('a:  one two three', { width: 9, indent: 4 })).toBe('a:  one\n    two\n    three')
  expect(fold('  one two', { width: 6 })).toBe('  one\n  two')
  expect(fold('see https://example.com/long here', { width: 10 })).toBe('see\nhttps://example.com/long\nhere')
  const red = `${styleText('red', 'red', { validateStream: false })} and so`
  expect(fold(red, { width: 10 })).toBe(red)
  expect(fold('as it is', { width: Number.POSITIVE_INFINITY })).toBe('as it is')
})

test.each([40, 80, 120])('help fits a terminal of %i columns, but for commands to copy', width => {
  for (const page of [programHelp(builtins, '1', width), commandHelp(Run, [], width)]) {
    const wide = page.split('\n').filter(line => line.length > width)
    expect(wide.filter(line => !/^ +(keelson|--[a-z-]+|-\w, --[a-z-]+) /.test(line))).toEqual([])
  }
})

const terminal = () => Object.assign(new PassThrough(), { isTTY: true, columns: 80 })

test('our own signs are ASCII on a terminal whose locale is C', () => {
  const text = 'a \u2192 b\u2026 \u2713 gr\u00fcn'
  expect(toTerminal(text, terminal(), { LC_ALL: 'C' })).toBe('a -> b... ok gr\u00fcn')
  expect(toTerminal(text, terminal(), {})).toBe('a -> b... ok gr\u00fcn')
  expect(toTerminal(text, terminal(), { LANG: 'de_DE.UTF-8' })).toBe(text)
  expect(toTerminal(text, new PassThrough(), { LC_ALL: 'C' })).toBe(text)
})

test('a terminal shows step and time on one line, then a tick with the total', () => {
  const stream = terminal()
  let now = 0
  const progress = createProgress(stream, () => now)
  now = 1000
  progress.report('Pulling')
  now = 4000
  progress.report('Starting')
  progress.done('Started notes')
  const shown = stripVTControlCharacters(String(stream.read())).split('\r')
  const steps = shown.map(line => line.replace(/^\S+ /, ''))
  expect(steps).toEqual(['', 'Pulling (0 s)', 'Starting (0 s)', 'Started notes (4 s)\n'])
})

test('verbose progress keeps every line of the work, on a terminal too', () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 40 })
  const progress = createProgress(stream, () => 0, { verbose: true })
  progress.report('Building x')
  progress.report('Step 1/9 : FROM node:24-alpine AS tools, longer than the terminal', 'detail')
  progress.done()
  expect(String(stream.read())).toBe(
    'Building x\nStep 1/9 : FROM node:24-alpine AS tools, longer than the terminal\n',
  )
})
