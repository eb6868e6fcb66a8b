import { BaseCommand } from '../../../src/cli/base-command.ts'
import { RegistryCommand } from './registry-command.ts'

export class RegistryLogout extends RegistryCommand {
  static override paths = [['registry', 'logout']]
  static override usage = BaseCommand.Usage({
    category: 'Registry',
    description: 'forget the login to the registry, and its cached content',
  })

  override async execute(): Promise<void> {
    const registry = await this.registry()
    const { place } = await registry.logout()
    this.say(`Logged out of ${place}.`)
  }
}
