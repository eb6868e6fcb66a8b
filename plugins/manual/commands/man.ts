import { BaseCommand } from '../../../src/cli/base-command.ts'
import { manualPage } from '../manual-page.ts'

export class Man extends BaseCommand {
  static override paths = [['man']]
  static override usage = BaseCommand.Usage({
    category: 'Program',
    description: 'print the manual page of all commands',
    examples: [
      ['Read it', '$0 man | man -l -'],
      ['Install it for yourself', '$0 man > ~/.local/share/man/man1/keelson.1'],
    ],
  })

  override async execute(): Promise<void> {
    this.printContent(await manualPage(this.app))
  }
}
