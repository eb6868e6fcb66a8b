import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { clean } from '../../../src/cli/output.ts'
import type { StagedPlugin } from '../service.ts'

const flags = { yes: flag.boolean('add it without asking', { short: 'y' }) }

export class PluginAdd extends BaseCommand {
  static override paths = [['plugin', 'add']]
  static override usage = BaseCommand.Usage({
    category: 'Plugins',
    description: 'add a third-party plugin',
    details:
      'Fetches an npm package, a folder or a .tgz file, shows what it is and asks whether to add it. ' +
      'None of its code runs before you agree. Afterwards it runs as you, with all your rights: the permissions ' +
      'that a plugin declares do not limit it. Adding a plugin again replaces it.',
    examples: [
      ['Add a plugin from npm', '$0 plugin add @example/keelson-nomad'],
      ['Add one from a folder, without a question', '$0 plugin add ./my-plugin --yes'],
    ],
  })
  static override synopsis = 'PACKAGE-OR-PATH'
  static override flags = flags

  source = Option.String({ required: true })

  override async execute(): Promise<number> {
    const plugins = await this.app.service('plugins')
    const progress = this.progress()
    progress.report(`Fetching ${this.source}`)
    const staged = await plugins
      .stage(this.source, {
        folder: process.cwd(),
        signal: this.context.signal,
        report: (...line) => progress.report(...line),
      })
      .finally(() => progress.done())
    let added = false
    try {
      for (const line of describe(staged)) this.say(clean(line))
      if (!this.values(flags).yes && !(await this.confirm('Add this plugin?'))) {
        this.say('Nothing was added.')
        return 1
      }
      await staged.commit()
      added = true
    } finally {
      if (!added) await staged.discard()
    }
    return 0
  }
}

function describe({ record, replaces }: StagedPlugin): string[] {
  const { name, version, source, manifest } = record
  const verbs = Object.entries(manifest.verbs ?? {})
  return [
    `Plugin:      ${name} ${version}`,
    `Source:      ${source}`,
    ...(replaces ? [`Replaces:    ${replaces.version} from ${replaces.source}`] : []),
    ...(verbs.length ? verbs.map(([verb, what]) => `Command:     ${verb}: ${what}`) : ['Commands:    none']),
    `Provides:    ${[...(manifest.provides ?? []), ...(manifest.services ?? [])].join(', ') || 'nothing'}`,
    ...(manifest.permissions?.length
      ? manifest.permissions.map(permission => `Permission:  ${permission}`)
      : ['Permissions: it states none']),
    'It will run as you, with all your rights.',
  ]
}
