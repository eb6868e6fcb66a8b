import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { callCommand } from '../../../../plugins/serve/ui/page/shell-command.ts'

const WORDS = ["it's", '"quoted"', '$(id) `id` $HOME !! \\', '*', '-x', '', 'é😀']
/** Of these the shell has to know dollar-single-quotes. */
const STEERING = ['two\nlines', "\u001b[201~'\u0003\\x", '\u009b\u202e']

const CASES = [...WORDS.map(word => ['sh', word]), ...[...WORDS, ...STEERING].map(word => ['bash', word])]

test.each(CASES)('%s passes on %j as it is', (shell = '', word = '') => {
  const command = callCommand('my-server', word, { [word]: word })
  const script = `keelson() { printf '%s\\0' "$@"; }\n${command}`
  const words = execFileSync(shell, ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1)
  const json = words[5] ?? ''
  expect(words).toEqual(['mcp', 'call', '--server', 'my-server', '--args', json, '--', word])
  expect(JSON.parse(json)).toEqual({ [word]: word })
})

test.each(STEERING)('%j cannot steer the terminal that the command is pasted into', word => {
  expect(callCommand('a', word, { [word]: word })).not.toMatch(/[\p{Cc}\u202e]/u)
})
