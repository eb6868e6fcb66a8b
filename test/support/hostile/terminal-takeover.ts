import { expect } from 'vitest'
import type { Home } from '../../e2e/home.ts'
import { atTerminal, type Step } from '../terminal.ts'

/**
 * What strangers write to take a terminal over: its title, its screen, its clipboard, a report that it
 * types back, a C1 control, text that reads backwards, hidden marks, a line that overwrites itself.
 */
export const HOSTILE =
  'seen\u001b]0;owned\u0007\u001b[2J\u001b]52;c;ZXZpbA==\u0007\u001b[6n\u009b31m\u0085\u202eevil\u202c\u2066\u200f\u061c\u007f\b\r' +
  '\u2028end'

/** What keelson itself writes to a terminal: its colours, and the line of progress that replaces itself. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal is told
const OWN = /\u001b\[(?:1|22|31|33|36|39|90)m|\r\u001b\[2K|\u001b\[(?:1G|0J|\d+G)|\r+\n/g
const STEERING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come through
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/

/** Runs the program on a terminal with colours and returns what it wrote there. */
export async function onTerminal(
  { path, env: { NO_COLOR: _, ...env } }: Pick<Home, 'path' | 'env'>,
  args: readonly string[],
  steps: readonly Step[] = [],
): Promise<string> {
  return (await atTerminal({ cwd: path, env: { ...env, TERM: 'xterm-256color' } }, args, steps)).screen
}

/** Holds that the stranger's text was shown, and that nothing of it reached the terminal as an order. */
export function expectTame(shown: string): void {
  expect(shown).toContain('seen')
  expect(shown).toContain('end')
  expectNoOrders(shown)
}

/** Holds that nothing of a stranger reached the terminal as an order, whether or not its text was shown. */
export function expectNoOrders(shown: string): void {
  const foreign = shown.replaceAll(OWN, '')
  const at = STEERING.exec(foreign)?.index
  expect(at === undefined ? '' : JSON.stringify(foreign.slice(Math.max(0, at - 60), at + 20))).toBe('')
}
