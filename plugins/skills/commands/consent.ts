import type { CliContext } from '../../../src/cli/base-command.ts'
import { isYes } from '../../../src/lib/is-yes.ts'
import { clean, printable } from '../../../src/lib/printable.ts'

/** The exit code when a policy refuses, and when a change needs an agreement that cannot be asked for. */
export const REFUSED = 4

/** Asks the user to agree to changes. */
export interface Consent {
  /** Shows the change on standard error and asks. The default is no. */
  ask(lines: readonly string[], question: string): Promise<boolean>
  /** Asks about unsigned skills, also with `--yes`. False without a terminal. */
  askUnsigned(names: readonly string[]): Promise<boolean>
  /** The exit code when the user refused or could not be asked; undefined otherwise. */
  refusal(): number | undefined
}

export function createConsent(context: CliContext, { yes }: { yes: boolean }): Consent {
  const said = { refusal: undefined as number | undefined }
  const say = (line: string) => void context.stderr.write(`${printable(line)}\n`)

  const put = async (question: string): Promise<string | undefined> => {
    const { ask } = await import('../../../src/cli/prompt.ts') // few commands ask
    return ask(context, `${question} [y/N] `)
  }

  return {
    refusal: () => said.refusal,
    async askUnsigned(names) {
      say(`Unsigned: ${names.map(clean).join(', ')}. Only the lock file says that this is intended.`)
      return isYes(await put('Install anyway?'))
    },
    async ask(lines, question) {
      for (const line of lines) say(line)
      if (yes) return true
      const answer = await put(question)
      if (isYes(answer)) return true
      say(
        answer === undefined ? 'There is no terminal to ask on. Add --yes to agree.' : 'Nothing was changed.',
      )
      said.refusal = answer === undefined ? REFUSED : 0
      return false
    },
  }
}
