import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readFileIfThere, writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import { object, optional, type TypeOf, text, texts } from '../../../src/lib/schema.ts'
import { findErrors } from '../../../src/schema-check.ts'

const loginNote = object({
  /** That of the login's record: another one, or no note, means that tokens of before are not to be used. */
  loggedInAt: text,
  /** When the newest access token expires, as far as the provider says. */
  tokenExpiresAt: optional(text),
  /** That the server has asked for since, and the login lacks. */
  missingScopes: optional(texts),
  /** Identity of the process that has the login in its memory, where no secrets provider keeps it. */
  keptBy: optional(text),
})
export type LoginNote = TypeOf<typeof loginNote>

/** What may be known of a login without its secrets, in one small file for all processes of the user. */
export interface LoginNotes {
  /** Undefined where there is no login; also for a file that cannot be read. */
  read(key: string): Promise<LoginNote | undefined>
  write(key: string, note: LoginNote): Promise<void>
  remove(key: string): Promise<void>
}

export function createLoginNotes(folder: string): LoginNotes {
  const pathOf = (key: string) => join(folder, `${key}.json`)
  return {
    async read(key) {
      try {
        const found = await readFileIfThere(pathOf(key))
        const note: unknown = found && JSON.parse(found)
        return findErrors(loginNote, note) === undefined ? (note as LoginNote) : undefined
      } catch {
        return undefined
      }
    },
    write: (key, note) => writeFileAtomic(pathOf(key), JSON.stringify(note)),
    remove: key => rm(pathOf(key), { force: true }),
  }
}
