import type { App } from '../../../src/app.ts'
import type { PreparationContext } from '../../../src/contracts/preparation.ts'
import { clean } from '../../../src/lib/printable.ts'
import { openBrowser } from '../../../src/login/open-browser.ts'
import type { LoginStep, Person } from '../oauth/types.ts'

/** The person who has typed the command. */
export const personAtTerminal = (
  app: App,
  { say, ask }: Pick<PreparationContext, 'say' | 'ask'>,
  { browser }: { browser: boolean },
): Person => ({
  show(step) {
    for (const line of describe(step)) say?.(line)
  },
  ...(browser ? { openBrowser: url => openBrowser(url, app.env) } : {}),
  ...(ask
    ? {
        async askForRedirect(signal, problem) {
          if (problem !== undefined) say?.(`It is not used: ${problem}.`)
          const pasted = await ask('If that browser is on another machine, paste the address it ended at', {
            signal,
          })
          if (pasted === undefined) throw new Error('there is no terminal to paste at')
          return pasted
        },
      }
    : {}),
})

function describe(step: LoginStep): string[] {
  if (step.kind === 'browser') {
    return [
      step.opened ? 'The browser was opened. If it shows nothing, log in at:' : 'Log in at:',
      clean(step.url),
    ]
  }
  return [
    `Log in on any device with the code ${clean(step.userCode)} at:`,
    clean(step.completeUrl ?? step.url),
  ]
}
