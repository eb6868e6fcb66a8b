import { randomBytes } from 'node:crypto'
import type { IsolatedBuildNetwork, Isolation } from '../../../src/contracts/runtime.ts'
import { isFailure } from '../../../src/errors.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import { processIdentity } from '../../../src/lib/process-identity.ts'
import type { Dialect } from '../dialect.ts'
import type { EngineCli } from '../engine-cli.ts'
import { isolatedNetworkArguments, networkName } from './isolated-networks.ts'
import { sleepingContainer } from './sleeping-container.ts'

/** Holds the id of the building process. Differs from every instance name, which begins with a letter or a digit. */
const BUILD = /^_build-(\d+)-/

const isUnderWay = (instance: string): boolean => {
  const pid = BUILD.exec(instance)?.[1]
  return pid !== undefined && processIdentity(Number(pid)) !== undefined
}

/**
 * Gives builds isolated networks, as instances have. Builders take neither addresses, name servers nor kernel settings
 * for their steps, so a container that only sleeps has the network, and the steps join that.
 */
export function withBuildIsolation(
  isolation: Isolation,
  { dialect, cli, owner }: { dialect: Dialect; cli: EngineCli; owner: string },
): Isolation {
  const holderOf = (instance: string) => networkName(owner, instance)

  async function hold(
    instance: string,
    image: string,
    isolatedNetwork: Parameters<typeof isolatedNetworkArguments>[3],
  ) {
    const name = holderOf(instance)
    const more = [
      ...isolatedNetworkArguments(dialect, owner, instance, isolatedNetwork),
      `--label=${LABEL.owner}=${owner}`,
      ...dialect.createArguments,
    ]
    const args = sleepingContainer({ name, image, more })
    await cli.run(args, { doing: 'create the network of a build', image })
    await cli.run(['start', name], { doing: 'start the network of a build', name })
    const pid = await cli.run(['container', 'inspect', '--format={{.State.Pid}}', '--', name], {
      doing: 'inspect the network of a build',
      name,
    })
    return dialect.isolation.joinOf({ name, pid: Number(pid) })
  }

  async function remove(instance: string): Promise<void> {
    if (BUILD.test(instance)) {
      const name = holderOf(instance)
      const args = ['rm', '--force', '--volumes', ...dialect.removeArguments, '--', name]
      await cli.run(args, { doing: 'remove the network of a build', name }).catch(error => {
        if (!isFailure(error, 'instance_missing')) throw error
      })
    }
    await isolation.remove(instance)
  }

  return {
    ...isolation,
    remove,

    async prepareBuild({ image, signal }): Promise<IsolatedBuildNetwork> {
      const instance = `_build-${process.pid}-${randomBytes(4).toString('hex')}`
      try {
        const isolatedNetwork = await isolation.prepare(instance, {
          workload: instance,
          ...(signal ? { signal } : {}),
        })
        return { ...isolatedNetwork, instance, join: await hold(instance, image, isolatedNetwork) }
      } catch (error) {
        await remove(instance).catch(() => undefined) // what it was made for has failed, which says more
        throw error
      }
    },

    list: async () => (await isolation.list()).filter(({ instance }) => !isUnderWay(instance)),
  }
}
