import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { chooseNames } from '../choose-names.ts'
import { BulkCommand, chooseFlags, ignoreFlags } from './bulk-command.ts'

const flags = {
  ...chooseFlags,
  ...ignoreFlags,
  force: flag.boolean('the same as --ignore-missing; running workloads are removed without it', {
    short: 'f',
  }),
}

export class Remove extends BulkCommand {
  static override paths = [['rm']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'stop and remove workloads, without asking',
  })
  static override synopsis = '[NAME...]'
  static override completes = 'workloads' as const
  static override flags = flags
  static override hints = {
    r: 'A workload has no parts to remove. Omit the flag.',
    v: 'Mounted folders stay as they are; there are no other volumes.',
    volumes: 'Mounted folders stay as they are; there are no other volumes.',
    y: '`rm` never asks.',
    yes: '`rm` never asks.',
  }

  names = Option.Rest()

  override async execute(): Promise<number> {
    const workloads = await this.app.service('workloads')
    const { 'ignore-missing': missing, force, ...choice } = this.values(flags)
    const names = await chooseNames(this.app, { ...choice, names: this.names })
    if (names.length === 0) this.say('There are no workloads.')
    return this.finish(await workloads.remove(names), { done: 'removed', ignoreMissing: missing || force })
  }
}
