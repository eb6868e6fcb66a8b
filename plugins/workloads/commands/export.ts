import { resolve } from 'node:path'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { failures } from '../../../src/errors.ts'
import { writeUserFile } from '../../../src/user-file.ts'

const flags = {
  format: flag.choice("format of the file; k8s: a resource of ToolHive's operator", ['json', 'k8s'], 'json'),
  strict: flag.boolean('with --format k8s: fail if the resource cannot hold a member of the run config'),
}

export class Export extends BaseCommand {
  static override paths = [['export']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'write the run config of a workload to a file, or print it',
    details:
      '`run --from-config FILE` runs it again, here or elsewhere. Values that were given with -e are in the file. ' +
      'With --format k8s, members that the resource cannot hold are named on standard error.',
  })
  static override synopsis = 'NAME [FILE]'
  static override completes = 'workloads' as const
  static override flags = flags

  name = Option.String({ required: true })
  file = Option.String({ required: false })

  override async execute(): Promise<void> {
    const { format, strict } = this.values(flags)
    if (strict && format === 'json') throw failures.usage({ text: '--strict goes with --format k8s.' })
    const config = await (await this.app.service('workloads')).config(this.name)
    const text =
      format === 'k8s' ? await this.toResource(config, strict) : `${JSON.stringify(config, null, 2)}\n`
    if (this.file === undefined || this.file === '-') return this.printContent(text)
    const path = resolve(this.file)
    await writeUserFile(path, text)
    this.print(`${this.name} is exported to ${path}.`)
  }

  private async toResource(config: RunConfig, strict: boolean): Promise<string> {
    const kubernetes = await this.app.service('kubernetesExport')
    const { kind, text, lost, secret } = await kubernetes.resource(config, { strict })
    if (lost.length) this.say(`The ${kind} cannot hold these members, or nothing enforces them:`)
    for (const member of lost) this.say(`  ${member}`)
    if (secret) {
      this.say(`Before you apply it, create the Secret "${secret.name}" with these keys:`)
      for (const { key, from } of secret.refs) this.say(`  ${key}: the value of the secret ${from}`)
    }
    return text
  }
}
