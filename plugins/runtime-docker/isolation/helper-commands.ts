import { isFailure, messageOf } from '../../../src/errors.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import type { Log } from '../../../src/log.ts'
import type { Dialect } from '../dialect.ts'
import type { EngineCli } from '../engine-cli.ts'
import type { HelperAddress } from './helper-container.ts'
import type { HelperImage } from './helper-image.ts'
import { sleepingContainer } from './sleeping-container.ts'

/** What the engine does with the helper's container. None of it may run beside another. */
export interface HelperCommands {
  /** Starts the helper if it does not run, and makes it first if there is none from the chosen image. */
  ensure(): Promise<void>
  /** Whether it exists and belongs to this installation. */
  isOurs(): Promise<boolean>
  connect(address: HelperAddress): Promise<void>
  disconnect(network: string): Promise<void>
  /** Idempotent. */
  remove(): Promise<void>
}

interface FoundHelper {
  readonly running: boolean
  readonly owner: string | undefined
  /** The name of its image. */
  readonly madeFrom: string | undefined
  /** The id that the image's name had then. */
  readonly imageId: string
}

export function createHelperCommands(options: {
  dialect: Dialect
  cli: EngineCli
  owner: string
  name: string
  image: HelperImage
  log: Log | undefined
}): HelperCommands {
  const { dialect, cli, owner, name, image, log } = options

  async function find(): Promise<FoundHelper | undefined> {
    try {
      return readHelper(
        await cli.run(['container', 'inspect', '--', name], { doing: 'inspect its helper', name }),
      )
    } catch (error) {
      if (isFailure(error, 'instance_missing')) return undefined
      throw error
    }
  }

  async function create(): Promise<void> {
    const more = [
      '--memory=512m',
      // It is on all networks, and must neither route between them nor respond on one for an address of another.
      '--sysctl=net.ipv4.ip_forward=0',
      '--sysctl=net.ipv4.conf.all.arp_ignore=1',
      `--network=${dialect.isolation.outside}`,
      `--label=${LABEL.owner}=${owner}`,
      `--label=${LABEL.helper}=${image.name}`,
      ...dialect.createArguments,
    ]
    const args = sleepingContainer({ name, image: await image.fetch(), more })
    const subject = { doing: 'create its helper', name }
    await cli
      .run(args, subject)
      .catch(error =>
        // The engine has no controller for memory, as for users without a systemd session.
        cli
          .run(
            args.filter(argument => !argument.startsWith('--memory')),
            subject,
          )
          .catch(() => Promise.reject(error)),
      )
      .catch(error => {
        if (!isFailure(error, 'name_taken')) throw error // another process of this installation was first
      })
  }

  async function remove(): Promise<void> {
    await cli
      .run(['rm', '--force', '--volumes', ...dialect.removeArguments, '--', name], {
        doing: 'remove its helper',
        name,
      })
      .catch(error => {
        if (!isFailure(error, 'instance_missing')) throw error
      })
  }

  return {
    async ensure() {
      let found = await find()
      // Only the chosen image may decide what servers reach; an older keelson chose other images.
      if (found?.owner === owner && found.madeFrom !== image.name) {
        await remove()
        found = undefined
      }
      if (!found) {
        await create()
        found = await find()
        log?.info(`the way out of isolated servers runs from ${image.name} (${found?.imageId})`)
      }
      if (found?.running) return
      await cli.run(['start', name], { doing: 'start its helper', name })
    },

    isOurs: async () => (await find())?.owner === owner,

    async connect({ network, address }) {
      try {
        await cli.run(['network', 'connect', `--ip=${address}`, network, name], { doing: 'join a network' })
      } catch (error) {
        if (!/already (?:exists|connected|attached)|is already/i.test(messageOf(error))) throw error
      }
    },

    async disconnect(network) {
      await cli
        .run(['network', 'disconnect', '--force', network, name], { doing: 'leave a network' })
        .catch(() => undefined) // the network is gone, or the helper was not on it
    },

    remove,
  }
}

/** Reads what `container inspect` prints. */
function readHelper(text: string): FoundHelper | undefined {
  const [found] = JSON.parse(text) as {
    Image: string
    State: { Running: boolean }
    Config: { Labels?: Record<string, string> | null }
  }[]
  const labels = found?.Config.Labels ?? {}
  return (
    found && {
      running: found.State.Running,
      owner: labels[LABEL.owner],
      madeFrom: labels[LABEL.helper],
      imageId: found.Image,
    }
  )
}
