import type { Helper } from '../../../src/contracts/runtime.ts'
import type { Log } from '../../../src/log.ts'
import type { Dialect } from '../dialect.ts'
import type { EngineCli } from '../engine-cli.ts'
import { createHelperCommands } from './helper-commands.ts'
import type { HelperImage } from './helper-image.ts'
import { runInHelper } from './run-in-helper.ts'

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
  const { cli, name, addresses } = options
  const commands = createHelperCommands(options)
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work)
    turn = mine.catch(() => undefined)
    return mine
  }

  return {
    name,
    join: place =>
      inTurn(async () => {
        await commands.ensure()
        await commands.connect(place)
      }),
    leave: network => inTurn(() => commands.disconnect(network)),
    exists: commands.isOurs,
    remove: () =>
      inTurn(async () => {
        if (await commands.isOurs()) await commands.remove()
      }),

    async run(program) {
      await inTurn(async () => {
        await commands.ensure()
        for (const place of await addresses()) await commands.connect(place)
      })
      return runInHelper(cli, name, program)
    },
  }
}
