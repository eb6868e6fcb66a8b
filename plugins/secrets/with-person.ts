import { isFailure } from '../../src/errors.ts'
import { isYes } from '../../src/lib/is-yes.ts'
import type { Paths } from '../../src/paths.ts'
import { failures } from './failures.ts'
import { keyFilePath, writeKeyFile } from './key-file.ts'
import type { Secrets } from './service.ts'

/** Somebody at a terminal. `ask` returns undefined if there is no answer. */
export interface Person {
  ask(question: string, options?: { hidden?: boolean }): Promise<string | undefined>
  say(text: string): void
}

/** To a question whose default is yes. */
const agrees = (answer: string | undefined): boolean =>
  answer !== undefined && (answer.trim() === '' || isYes(answer))

type Used = Pick<Secrets, 'askWith' | 'missing' | 'needsPerson' | 'resolve' | 'set' | 'setUp'>

/** The operations that may ask a person. `Secrets` says what each of them promises. */
export function createWithPerson({ secrets, paths }: { secrets: Used; paths: Paths }) {
  /** Passes questions for the password on, and keeps the last answer. */
  function listen({ ask }: Person): { typed?: string } {
    const heard: { typed?: string } = {}
    secrets.askWith(async question => {
      const typed = await ask(question, { hidden: true })
      if (typed === undefined) throw failures.secrets_password_needed()
      heard.typed = typed
      return typed
    })
    return heard
  }

  async function wantsKeyFile({ ask, say }: Person): Promise<boolean> {
    say(
      'This machine has no keyring. Servers run in the background, so keelson must open the secrets without you.',
    )
    const answer = await ask(`Keep a key in ${keyFilePath(paths)}, which only you can read? [Y/n]`)
    if (agrees(answer)) return true
    say('Then type `keelson secret unlock` in each session, before a server that needs secrets starts.')
    return false
  }

  async function setUpWith(type: string, person: Person): Promise<void> {
    const heard = listen(person)
    const needs = await secrets.needsPerson(type)
    if (!needs || !(await wantsKeyFile(person))) return secrets.setUp(type)
    if (needs === 'new') return secrets.setUp(type, { passwordFile: await writeKeyFile(paths) })
    await secrets.setUp(type)
    if (heard.typed) await secrets.setUp(type, { passwordFile: await writeKeyFile(paths, heard.typed) })
  }

  /** Asks for the values of those that are missing. Fails with `secrets_missing` without them. */
  async function resolveAsking(references: readonly string[], { ask }: Person): Promise<void> {
    for (const name of await secrets.missing(references)) {
      const value = (await ask(`Value of the secret ${name}`, { hidden: true }))?.trim()
      if (!value) break
      await secrets.set(name, value)
    }
    await secrets.resolve(references)
  }

  return {
    setUpWith,

    async resolveWith(
      references: readonly string[],
      person: Person & { background: boolean },
    ): Promise<void> {
      const heard = listen(person)
      try {
        await resolveAsking(references, person)
      } catch (error) {
        if (!isFailure(error, 'secrets_not_set_up')) throw error
        const answer = await person.ask(
          'No place for secrets has been chosen yet. Choose an encrypted file? [Y/n]',
        )
        if (!agrees(answer)) throw error
        await setUpWith('encrypted', person)
        await resolveAsking(references, person)
        return
      }
      if (!person.background || !heard.typed || !(await secrets.needsPerson())) return
      if (await wantsKeyFile(person))
        await secrets.setUp('encrypted', { passwordFile: await writeKeyFile(paths, heard.typed) })
    },
  }
}
