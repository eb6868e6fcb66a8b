import { resolve } from 'node:path'
import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import { failures } from '../../../src/errors.ts'
import { writeUserFile } from '../../../src/user-file.ts'
import { recipeFlags } from '../flags.ts'
import { parsePackageArgument } from '../package-argument.ts'

const flags = {
  tag: flag.string('name of the image', { short: 't', placeholder: 'NAME[:TAG]' }),
  output: flag.file('write the Dockerfile to this file, and build nothing', { short: 'o' }),
  'dry-run': flag.boolean('print the Dockerfile, and build nothing'),
  runtime: flag.string('runtime to build for', { placeholder: 'NAME' }),
  ...recipeFlags,
}

export class Build extends BaseCommand {
  static override paths = [['build']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'build the image of a package without running it',
    details:
      'PACKAGE is npx://NAME, uvx://NAME, go://PATH or a local Go path (go://./path). The name of the ' +
      'image is printed on standard output. Arguments after `--` become part of the image.',
    examples: [
      ['Build the image of an npm package', '$0 build npx://@modelcontextprotocol/server-everything'],
      ['See how it would be built', '$0 build --dry-run uvx://mcp-server-time'],
    ],
  })
  static override synopsis = 'PACKAGE'
  static override passthrough = true
  static override flags = flags

  package = Option.String({ required: true })

  override async execute(): Promise<void> {
    const given = this.values(flags)
    const request = parsePackageArgument(this.package, {
      cwd: process.cwd(),
      buildWith: given['build-with'],
    })
    if (!request) {
      throw failures.usage({
        text: `"${this.package}" is not a package to build.`,
        hint: 'It begins with npx://, uvx:// or go://.',
      })
    }
    const recipes = await this.app.service('recipes')
    const options = {
      runtimeImage: given['runtime-image'],
      addPackages: given['runtime-add-package'],
      caCert: given['ca-cert'],
      allowNetwork: given['allow-build-network'],
      allowHosts: given['allow-build-host'],
      args: this.context.passthrough,
      tag: given.tag,
    }
    const progress = this.progress()
    const wait = { signal: this.context.signal, report: progress.report }
    try {
      if (given['dry-run'] || given.output) {
        const { dockerfile } = await recipes.plan(request, options, wait)
        progress.done()
        if (given.output) await writeUserFile(resolve(given.output), dockerfile)
        else this.printContent(dockerfile)
        return
      }
      const { runtime, warnings } = await (await this.app.service('runtimes')).select(given.runtime)
      for (const warning of warnings) this.say(`warning: ${warning}`)
      const { image } = await recipes.build(request, { ...options, runtime }, wait)
      progress.done()
      this.print(image)
    } finally {
      progress.done()
    }
  }
}
