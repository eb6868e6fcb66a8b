import { failures } from '../../src/errors.ts'
import { suggest } from '../../src/lib/suggest.ts'
import { bash } from './scripts/bash.ts'
import { fish } from './scripts/fish.ts'
import { powershell } from './scripts/powershell.ts'
import { zsh } from './scripts/zsh.ts'

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof SHELLS)[number]

/** Fails with `usage` for a shell we have no script for. */
export function parseShell(text: string): Shell {
  const shell = SHELLS.find(name => name === text)
  if (shell) return shell
  const near = suggest(text, SHELLS)
  throw failures.usage({
    text: `There is no completion for "${text}".`,
    hint: near ? `Did you mean ${near}?` : `There is one for ${SHELLS.join(', ')}.`,
  })
}

/** A script that asks `keelson __complete` at every press of the completion key. */
export function shellScript(shell: Shell, { descriptions }: { descriptions: boolean }): string {
  const ask = `keelson __complete${descriptions ? '' : ' --no-descriptions'}`
  return { bash, zsh, fish, powershell }[shell](ask)
}
