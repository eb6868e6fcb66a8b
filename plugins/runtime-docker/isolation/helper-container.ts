import { Duplex } from 'node:stream'
import type { Helper } from '../../../src/contracts/runtime.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import { programText } from '../../../src/lib/program-text.ts'
import type { Log } from '../../../src/log.ts'
import type { Dialect } from '../dialect.ts'
import type { EngineCli } from '../engine-cli.ts'
import type { HelperImage } from './helper-image.ts'
import { sleepingContainer } from './sleeping-container.ts'

/** A network that the helper belongs to, and its address there. */
export interface HelperAddress {
  readonly network: string
  readonly address: string
}

/** The one container that serves all isolated instances of an engine whose networks are on another host. */
export interface HelperContainer extends Helper {
  /** Connects the helper to a network, and starts it if it does not run. */
  join(place: HelperAddress): Promise<void>
  leave(network: string): Promise<void>
  exists(): Promise<boolean>
  /** Idempotent. */
  remove(): Promise<void>
}

const BOOT = programText('plugins/runtime-docker/programs/run-from-input.cjs')

export function createHelperContainer(options: {
  dialect: Dialect
  cli: EngineCli
  owner: string
  name: string
  image: HelperImage
  /** Returns the networks that the helper has to be connected to. */
  addresses: () => Promise<readonly HelperAddress[]>
  /** Receives a line that names the helper's image. */
  log: Log | undefined
}): HelperContainer {
  const { dialect, cli, owner, name, image, addresses, log } = options
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }

  /** Undefined when there is none. `madeFrom` is the name of its image, `imageId` the id that the name had then. */
  async function find(): Promise<
    { running: boolean; owner: string | undefined; madeFrom: string | undefined; imageId: string } | undefined
  > {
    try {
      const text = await cli.run(['container', 'inspect', '--', name], { doing: 'inspect its helper', name })
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

  async function ensure(): Promise<void> {
    let found = await find()
    // Only the chosen image may decide what servers reach; an older keelson chose other images.
    if (found?.owner === owner && found.madeFrom !== image.name) {
      await removeContainer()
      found = undefined
    }
    if (!found) {
      await create()
      found = await find()
      log?.info(`the way out of isolated servers runs from ${image.name} (${found?.imageId})`)
    }
    if (found?.running) return
    await cli.run(['start', name], { doing: 'start its helper', name })
  }

  async function removeContainer(): Promise<void> {
    await cli
      .run(['rm', '--force', '--volumes', ...dialect.removeArguments, '--', name], {
        doing: 'remove its helper',
        name,
      })
      .catch(error => {
        if (!isFailure(error, 'instance_missing')) throw error
      })
  }

  async function connect({ network, address }: HelperAddress): Promise<void> {
    try {
      await cli.run(['network', 'connect', `--ip=${address}`, network, name], { doing: 'join a network' })
    } catch (error) {
      if (!/already (?:exists|connected|attached)|is already/i.test(messageOf(error))) throw error
    }
  }

  return {
    name,
    join: place =>
      inTurn(async () => {
        await ensure()
        await connect(place)
      }),
    leave: network =>
      inTurn(async () => {
        await cli
          .run(['network', 'disconnect', '--force', network, name], { doing: 'leave a network' })
          .catch(() => undefined) // the network is gone, or the helper was not on it
      }),
    exists: async () => (await find())?.owner === owner,
    remove: () =>
      inTurn(async () => {
        if ((await find())?.owner === owner) await removeContainer()
      }),

    async run(program) {
      await inTurn(async () => {
        await ensure()
        for (const place of await addresses()) await connect(place)
      })
      const call = cli.open(['exec', '--interactive', name, 'node', '--no-warnings', '--eval', BOOT])
      let words = ''
      call.stderr.setEncoding('utf8').on('data', (text: string) => {
        words = (words + text).slice(-500)
      })
      const streams = Duplex.from({ readable: call.stdout, writable: call.stdin })
      streams.once('close', call.kill)
      void call.ended.then(() =>
        streams.destroy(words ? new Error(`the helper ended: ${words.trim()}`) : undefined),
      )
      const bytes = Buffer.from(program)
      streams.write(`${bytes.length}\n`)
      streams.write(bytes)
      return streams
    },
  }
}
