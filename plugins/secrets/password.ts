import { failures as core, isFailure } from '../../src/errors.ts'
import { readUserFile } from '../../src/user-file.ts'
import { failures } from './failures.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Where a password may come from without a person. */
interface PasswordPlaces {
  readonly env: Env
  /** The file that the settings name. */
  readonly file: string | undefined
}

/** A password that needs no person: the variable, the file it names, the file in the settings; in this order. */
export async function findPassword({ env, file }: PasswordPlaces): Promise<string | undefined> {
  if (env.KEELSON_SECRETS_PASSWORD) return env.KEELSON_SECRETS_PASSWORD
  const path = env.KEELSON_SECRETS_PASSWORD_FILE || file
  return path ? readPasswordFile(path) : undefined
}

/** The content of a password file, less one final line break. Fails with `secrets_password_file`. */
async function readPasswordFile(path: string): Promise<string> {
  const text = await readUserFile(path, 'The password file').catch(error => {
    throw failures.secrets_password_file(
      { path, problem: isFailure(error, 'file_missing') ? 'does not exist' : 'cannot be read' },
      { cause: error },
    )
  })
  const password = text.replace(/\r?\n$/, '')
  if (!password) throw failures.secrets_password_file({ path, problem: 'is empty' })
  return password
}

/** Asks for a password; twice when it is a new one. Fails with `secrets_password_needed` without a terminal. */
export async function askPassword(
  ask: ((question: string) => Promise<string>) | undefined,
  { isNew }: { isNew: boolean },
): Promise<string> {
  if (!ask) throw failures.secrets_password_needed()
  if (!isNew) return ask('Password of the secrets')
  const password = await ask('New password for the secrets')
  if (password.length < 8) {
    throw core.usage({ text: 'The password is too short.', hint: 'Take at least 8 characters.' })
  }
  if ((await ask('Once more')) !== password) throw failures.secrets_passwords_differ()
  return password
}
