import type { InstanceSpec } from '../../src/contracts/runtime.ts'
import { isFailure } from '../../src/errors.ts'
import { START_MS } from './attach-options.ts'
import { splitEnv, withEnvFile } from './container-env.ts'
import { createArguments } from './create-arguments.ts'
import type { Dialect } from './dialect.ts'
import type { EngineCli } from './engine-cli.ts'

/** Makes a container and returns its id. Fails with `name_taken` when there is one of that name. */
export type MakeContainer = (spec: InstanceSpec, signal: AbortSignal | undefined) => Promise<string>

export function createContainerMaker(options: {
  dialect: Dialect
  cli: EngineCli
  owner: string
  /** The environment of the engine's program. */
  env: Readonly<Record<string, string | undefined>>
  /** Returns what the engine prints for `infoArguments`. */
  info: () => Promise<unknown>
}): MakeContainer {
  const { dialect, cli, owner, env, info } = options
  /** Whether the engine has the helper behind `--init`, as far as we know. */
  let init = true

  return async (spec, signal) => {
    const { inherited, filed } = splitEnv(spec.env)
    const abilities = dialect.readAbilities(await info())
    const { name, image } = spec
    return withEnvFile(filed, async file => {
      const given = { dialect, abilities, owner, inherited: Object.keys(inherited), envFile: file?.path }
      const create = (withInit: boolean) => {
        const args = createArguments(spec, { ...given, init: withInit })
        const api = dialect.createRequest?.(args, { variables: spec.env, env })
        return cli.run(
          args,
          { doing: `create "${name}"`, name, image },
          { timeoutMs: START_MS, signal, env: inherited, file: file?.fd, api },
        )
      }
      const printed = await create(init).catch(error => {
        if (!init || !isFailure(error) || !dialect.initMissing.test(error.message)) throw error
        init = false
        return create(false)
      })
      return printed.trim()
    })
  }
}
