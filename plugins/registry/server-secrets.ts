import type { App } from '../../src/app.ts'
import { isFailure } from '../../src/errors.ts'
import type { Secrets } from '../secrets/index.ts'
import { formerSecretName, secretNameOf } from './secret-name.ts'

/** A server as one registry lists it. The namespace of its name is its publisher. */
export interface Origin {
  /** The URL or path of the registry; for the built-in one `built-in catalogue`. */
  readonly registry: string
  /** The whole name. */
  readonly server: string
}

export interface FoundSecret {
  readonly name: string
  /** Whether the user has agreed to give it to this server as this variable. */
  readonly agreed: boolean
}

/** The user's secrets, as far as one server of a registry is concerned. */
export interface ServerSecrets {
  /** The secret that was agreed on for a variable, else one that the user may mean, by its name. */
  find(variable: string): Promise<FoundSecret | undefined>
  /** Remembers that the user gives the secret to the server as this variable. */
  agree(variable: string, secret: string): Promise<void>
  /** Whether a place for secrets has been chosen that can store. */
  canStore(): Promise<boolean>
  /** Stores what the user typed for this server and variable, and gives it. Returns the name of the secret. */
  store(variable: string, value: string): Promise<string>
}

/** Undefined where no plugin keeps secrets. */
export async function secretsOf(app: App, origin: Origin): Promise<ServerSecrets | undefined> {
  const secrets = await app.find('secrets')
  if (!secrets) return undefined
  const agree = (variable: string, secret: string) => secrets.consents.add({ ...origin, variable, secret })

  return {
    async find(variable) {
      const wanted = { ...origin, variable }
      const agreed = await secrets.consents.find(wanted)
      if (agreed !== undefined && (await isThere(secrets, agreed))) return { name: agreed, agreed: true }
      for (const name of [secretNameOf(wanted), formerSecretName(wanted), variable]) {
        if (await isThere(secrets, name)) return { name, agreed: false }
      }
      return undefined
    },
    agree,
    async canStore() {
      try {
        await secrets.assertCanStore(secretNameOf({ ...origin, variable: 'X' }))
        return true
      } catch (error) {
        if (isFailure(error)) return false
        throw error
      }
    },
    async store(variable, value) {
      const name = secretNameOf({ ...origin, variable })
      await secrets.set(name, value)
      await agree(variable, name)
      return name
    },
  }
}

/** Failures that mean that there is no such secret: the provider cannot have the name, or there is no provider. */
const NOTHING: ReadonlySet<string> = new Set([
  'onepassword_reference',
  'secret_name_invalid',
  'secret_name_reserved',
  'secrets_not_set_up',
])

async function isThere(secrets: Secrets, name: string): Promise<boolean> {
  try {
    return (await secrets.find(name)) !== undefined
  } catch (error) {
    if (isFailure(error) && NOTHING.has(error.code)) return false
    throw error
  }
}
