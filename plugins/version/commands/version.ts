import { BUILD, VERSION } from '../../../src/build-info.ts'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class Version extends BaseCommand {
  static override paths = [['version']]
  static override usage = BaseCommand.Usage({ category: 'Program', description: 'show the version' })
  static override flags = flags

  override async execute(): Promise<void> {
    const platform = `${process.platform}/${process.arch}`
    const facts = { version: VERSION, build: BUILD, node_version: process.versions.node, platform }
    if (this.values(flags).format === 'json') return this.printJson(facts)
    this.print(`keelson ${VERSION}`)
    this.print(`Build: ${BUILD}`)
    this.print(`Node.js: ${process.versions.node}`)
    this.print(`Platform: ${platform}`)
  }
}
