import { createHash } from 'node:crypto'
import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { type Failure, isFailure, messageOf } from '../../src/errors.ts'

/**
 * The secret that a workload proves itself with at an endpoint. A run config holds it as plain text, or as a reference
 * (`NAME,target=TARGET`) to what the secrets provider keeps.
 */
export interface BoundSecret {
  /** Returns the secret of a member of the run config. Fails with `missing` where it is kept nowhere. */
  read(said: string | undefined): Promise<string | undefined>
  /** Keeps a plain secret and returns the reference; a reference stays. Fails with `notStorable`. */
  conceal(said: string): Promise<string>
  /** Deletes what is kept for a reference. */
  forget(said: string | undefined): Promise<void>
}

/**
 * `bound`: the endpoint that gets the secret and the client that it is of. They are a part of the name that it is kept
 * under, so that a run config which names another endpoint cannot have it sent there.
 */
export function boundSecret(
  app: App,
  {
    workload,
    prefix,
    target,
    bound: [endpoint = '', client = ''],
    failures: { missing, notStorable },
  }: {
    readonly workload: string
    readonly prefix: string
    readonly target: string
    readonly bound: readonly [endpoint: string | undefined, client: string | undefined]
    readonly failures: {
      missing(facts: { secret: string }): Failure
      notStorable(facts: { problem: string }, options: { cause: unknown }): Failure
    }
  },
): BoundSecret {
  const digest = createHash('sha256').update(JSON.stringify([workload, endpoint, client]))
  const ownName = `${prefix}_${workload}_${digest.digest('hex').slice(0, 16)}`
  const kept = async () => (await app.service('secrets')).scope('workloads')

  /** The name of the secret in a reference; undefined where the text is the secret itself. */
  function referredName(said = ''): string | undefined {
    const [name, rest, ...more] = said.split(',')
    return name && rest === `target=${target}` && more.length === 0 ? name : undefined
  }

  return {
    async read(said) {
      const name = referredName(said)
      if (name === undefined) return said || undefined
      const found = name === ownName ? await (await kept()).find(name) : undefined
      if (found === undefined) throw missing({ secret: name })
      return found
    },
    async conceal(said) {
      if (referredName(said) !== undefined) return said
      try {
        await (await kept()).set(ownName, said)
      } catch (error) {
        if (!isFailure(error)) throw error
        throw notStorable({ problem: messageOf(error) }, { cause: error })
      }
      return `${ownName},target=${target}`
    },
    async forget(said) {
      if (referredName(said) !== ownName) return
      await (await kept()).delete(ownName).catch(error => {
        if (!isFailure(error, 'secret_missing')) throw error
      })
    },
  }
}

/** The secret that is a member of a section of run configs. All functions pass over run configs without it. */
export interface MemberSecret {
  /** Moves a plain secret into the secrets provider. Fails as `BoundSecret.conceal` does. */
  conceal(config: RunConfig): Promise<RunConfig>
  /** The run config with the secret that is kept for it. Fails as `BoundSecret.read` does. */
  reveal(config: RunConfig): Promise<RunConfig>
  /** Deletes what is kept for a workload that is gone. */
  forget(config: RunConfig): Promise<void>
}

export function memberSecret<K extends keyof RunConfig, M extends string>(
  [section, member]: readonly [section: K, member: M],
  secretOf: (workload: string, section: NonNullable<RunConfig[K]>) => BoundSecret,
): MemberSecret {
  type Holder = NonNullable<RunConfig[K]> & { readonly [name in M]?: string }
  const holderIn = (config: RunConfig) => config[section] as Holder | undefined

  async function change(config: RunConfig, how: 'conceal' | 'read'): Promise<RunConfig> {
    const found = holderIn(config)
    const said = found?.[member]
    if (!found || !said) return config
    const changed = await secretOf(config.name, found)[how](said)
    return { ...config, [section]: { ...(found as object), ...(changed ? { [member]: changed } : {}) } }
  }
  return {
    conceal: config => change(config, 'conceal'),
    reveal: config => change(config, 'read'),
    async forget(config) {
      const found = holderIn(config)
      if (found) await secretOf(config.name, found).forget(found[member])
    },
  }
}
