import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { failures } from '../failures.ts'
import { isKept, keptName, referredName, type SecretKind } from './kept-secret.ts'

/** Secrets of run configs about remote servers: kept by the secrets provider, named in the run config. */
export interface WorkloadSecrets {
  /** The value of a member: what the reference `NAME,target=…` names, or the text itself. Fails as `get`. */
  valueOf(text: string, config: RunConfig): Promise<string>
  /**
   * A secret of the user's, or one that keelson keeps: these are given only for the workload and the origin that
   * they were stored for. Fails with `credential_missing` or `credential_of_other_server`.
   */
  get(name: string, config: RunConfig): Promise<string>
  /** Stores a plain value and returns its name. Fails with `credential_not_storable`. `part` tells several apart. */
  store(kind: SecretKind, value: string, config: RunConfig, part?: string): Promise<string>
  /** Deletes what is kept for a workload that is removed. */
  forget(config: RunConfig): Promise<void>
}

const WHAT: Readonly<Partial<Record<SecretKind, string>>> = {
  bearer_token: 'The bearer token',
  header: 'The value of a forwarded header',
  private_key: 'The private key',
}

const originOf = (url: string): string => URL.parse(url)?.origin ?? url

function nameFor(kind: SecretKind, { name, remote_url = '' }: RunConfig, part?: string): string {
  return keptName(kind, name, [originOf(remote_url), ...(part === undefined ? [] : [part.toLowerCase()])])
}

/** The names that secrets of this run config can have. */
const ownNames = (config: RunConfig): string[] => [
  nameFor('bearer_token', config),
  nameFor('oauth_secret', config),
  nameFor('private_key', config),
  ...Object.keys(config.header_forward?.add_headers_from_secret ?? {}).map(header =>
    nameFor('header', config, header),
  ),
]

export function createWorkloadSecrets(app: App): WorkloadSecrets {
  const secrets = () => app.service('secrets')
  const kept = async () => (await secrets()).scope('workloads')

  async function get(name: string, config: RunConfig): Promise<string> {
    if (isKept(name) && !ownNames(config).includes(name)) {
      const server = originOf(config.remote_url ?? '')
      throw failures.credential_of_other_server({ secret: name, server })
    }
    const found = await (isKept(name) ? kept() : secrets()).then(view => view.find(name))
    if (found === undefined) throw failures.credential_missing({ secret: name })
    return found
  }

  return {
    get,
    async valueOf(text, config) {
      const name = referredName(text)
      return name === undefined ? text : get(name, config)
    },
    async store(kind, value, config, part) {
      const name = nameFor(kind, config, part)
      try {
        await (await kept()).set(name, value)
      } catch (error) {
        if (!isFailure(error)) throw error
        const what = WHAT[kind] ?? 'The client secret'
        throw failures.credential_not_storable({ what, problem: messageOf(error) }, { cause: error })
      }
      return name
    },
    async forget(config) {
      const { bearer_token, client_secret, private_key } = config.remote_auth_config ?? {}
      const named = [bearer_token, client_secret, private_key].map(text => referredName(text ?? ''))
      const fromHeaders = Object.values(config.header_forward?.add_headers_from_secret ?? {})
      const own = new Set(ownNames(config))
      for (const name of [...named, ...fromHeaders]) {
        if (name === undefined || !own.has(name)) continue
        await (await kept()).delete(name).catch(error => {
          if (!isFailure(error, 'secret_missing')) throw error
        })
      }
    },
  }
}
