import { Option } from 'clipanion'
import { BaseCommand } from '../../../src/cli/base-command.ts'
import { flag } from '../../../src/cli/flags.ts'
import type { Finding, LintServer } from '../cedar/lint-policies.ts'

const flags = {
  server: flag.string('a running workload whose tools the policies are compared with', {
    placeholder: 'NAME',
  }),
  timeout: flag.duration('how long to wait for the server', '30s'),
  format: flag.choice('output format', ['text', 'json'], 'text'),
}

export class AuthzLint extends BaseCommand {
  static override paths = [['authz', 'lint']]
  static override usage = BaseCommand.Usage({
    category: 'Workloads',
    description: 'find policies that can never match',
    details:
      'Finds policies that cannot be parsed, and actions, types and attributes that do not exist. Also reports what the ' +
      'validator of Cedar finds, such as scopes that exclude each other. With --server also finds tools and arguments that ' +
      'the workload does not have, and arguments of another type. The workload lists its tools as for any other client: ' +
      'tools that policies hide from you, or that --tools-override renames, count as missing. Exits with 1 if anything is found.',
    examples: [['Compare policies with a workload', '$0 authz lint policies.yaml --server pay']],
  })
  static override synopsis = 'FILE'
  static override flags = flags

  file = Option.String({ required: true })

  override async execute(): Promise<number> {
    const { server, timeout, format } = this.values(flags)
    const { lintFile } = await import('../lint-file.ts')
    const found = await lintFile(
      this.file,
      server === undefined ? undefined : await this.#ask(server, timeout ?? 0),
    )
    if (format === 'json') this.printJson(found)
    else if (found.length === 0) this.print('Nothing was found.')
    else
      for (const finding of found) {
        const { problem } = finding
        this.print(
          'policy' in finding ? `${this.#at(finding.place)}: ${finding.policy}: ${problem}` : problem,
        )
      }
    return found.length ? 1 : 0
  }

  #at({ file, text, line }: Finding['place']): string {
    return file ? `${this.file}:${file.line}:${file.column}` : `${this.file}, text ${text}, line ${line}`
  }

  async #ask(name: string, timeoutMs: number): Promise<LintServer> {
    const [lists, { argumentsOf, argumentTypesOf }] = await Promise.all([
      this.app.service('serverTools'),
      import('../lint-file.ts'),
    ])
    const tools = await lists.of(name, { timeoutMs, signal: this.context.signal })
    return {
      name,
      tools: tools.map(({ name: tool, inputSchema }) => ({
        name: tool,
        arguments: argumentsOf(inputSchema),
        types: argumentTypesOf(inputSchema),
      })),
    }
  }
}
