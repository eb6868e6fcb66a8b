import { resolve } from 'node:path'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { failures } from '../../../src/errors.ts'
import { writeUserFile } from '../../../src/user-file.ts'

const flags = {
  format: flag.choice(
    "format of the file; k8s: a resource of ToolHive's operator; manifests: objects of Kubernetes alone",
    ['json', 'k8s', 'manifests'],
    'json',
  ),
  strict: flag.boolean('with --format k8s: fail if the resource cannot hold a member of the run config'),
  'keelson-image': flag.string('with --format manifests: the container image of keelson; required there', {
    placeholder: 'IMAGE',
  }),
  'public-host': flag.string('with --format manifests: name under which the world reaches the workload', {
    placeholder: 'NAME',
  }),
  gateway: flag.string('with --public-host: the Gateway that a route is attached to, instead of an Ingress', {
    placeholder: 'NAME',
  }),
  writable: flag.list('with --format manifests: path that the server may write to (repeatable)', 'PATH'),
}

/** The format that a flag is for. */
const FORMAT_OF: Readonly<Record<string, string>> = {
  strict: 'k8s',
  'keelson-image': 'manifests',
  'public-host': 'manifests',
  gateway: 'manifests',
  writable: 'manifests',
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
    const { format } = this.values(flags)
    for (const name of this.given) {
      const wanted = FORMAT_OF[name]
      if (wanted && wanted !== format)
        throw failures.usage({ text: `--${name} goes with --format ${wanted}.` })
    }
    const config = await (await this.app.service('workloads')).config(this.name)
    const text = await this.toText(config)
    if (this.file === undefined || this.file === '-') return this.printContent(text)
    const path = resolve(this.file)
    await writeUserFile(path, text)
    this.print(`${this.name} is exported to ${path}.`)
  }

  private async toText(config: RunConfig): Promise<string> {
    const { format, strict } = this.values(flags)
    if (format === 'k8s') return this.toResource(config, strict)
    if (format === 'manifests') return this.toManifests(config)
    return `${JSON.stringify(config, null, 2)}\n`
  }

  private async toManifests(config: RunConfig): Promise<string> {
    const { 'keelson-image': keelsonImage, 'public-host': publicHost, gateway, writable } = this.values(flags)
    if (keelsonImage === undefined) {
      throw failures.usage({
        text: '--format manifests needs --keelson-image IMAGE.',
        hint: '`npm run container-image` builds one; push it where the cluster pulls from.',
      })
    }
    if (gateway !== undefined && publicHost === undefined) {
      throw failures.usage({ text: '--gateway needs --public-host NAME.' })
    }
    const kubernetes = await this.app.service('kubernetesExport')
    const options = { keelsonImage, publicHost, gateway, writable }
    const { text, notes } = await kubernetes.manifests(config, options)
    for (const note of notes) this.say(note)
    return text
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
