import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'

export class RegistryVerifyCatalogue extends BaseCommand {
  static override paths = [['registry', 'verify-catalogue']]
  static override usage = BaseCommand.Usage({
    category: 'Registry',
    description: 'check a registry file, or the built-in catalogue, for inconsistencies',
    details:
      'Checks the limits of the published schemas, names, image and package references, transports and ' +
      'ports, permissions, and that what looks like a secret is marked as one. Uses no network.',
    examples: [['Check a file of your own', '$0 registry verify-catalogue registry.json']],
  })
  static override synopsis = '[FILE]'

  file = Option.String({ required: false })

  override async execute(): Promise<void> {
    const registry = await this.app.service('registry')
    const { place, servers, skills } = await registry.verifyCatalogue(this.file)
    this.print(`${place}: ${servers} servers and ${skills} skills, no inconsistency.`)
  }
}
