import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'

const flags = { format: flag.choice('output format', ['text', 'json'], 'text') }

export class SkillBuilds extends BaseCommand {
  static override paths = [['skill', 'builds']]
  static override usage = BaseCommand.Usage({
    category: 'Skills',
    description: 'list the builds on this machine',
  })
  static override flags = flags

  override async execute(): Promise<void> {
    const { format } = this.values(flags)
    const builds = await (await this.app.service('skillBuilds')).list()
    this.printList(builds, {
      format,
      columns: [
        { title: 'TAG', of: build => build.tag },
        { title: 'DIGEST', of: build => `${build.digest.slice(0, 19)}...` },
        { title: 'NAME', of: build => build.name ?? '' },
        { title: 'VERSION', of: build => build.version ?? '' },
      ],
    })
  }
}
